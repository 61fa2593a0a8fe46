import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

/** A node of a parsed manifest. Reading a key that is not there gives an empty node, so paths can be written plainly. */
export class Node {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
  at(...path: readonly (string | number)[]): Node {
    let here = this.value;
    for (const key of path) here = (here as Record<string | number, unknown> | null | undefined)?.[key];
    return new Node(here);
  }
  /** The items of a list; none where there is no list. */
  items(): readonly Node[] {
    return Array.isArray(this.value) ? this.value.map((item) => new Node(item)) : [];
  }
  text(): string {
    return String(this.value ?? '');
  }
}

/** One Kubernetes object and the file that it stands in. */
export interface Manifest {
  readonly file: string;
  readonly kind: string;
  readonly name: string;
  readonly body: Node;
}

/** The objects of a text; throws for text that is no YAML, with duplicate keys counted as an error. */
export function parseManifests(text: string, file: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw new Error(`${file}: ${problem.message}`);
    const body = new Node(document.toJS());
    if (body.value === null || body.value === undefined) return [];
    return [{ file, kind: body.at('kind').text(), name: body.at('metadata', 'name').text(), body }];
  });
}

/** The objects of all YAML files below a folder. */
export function readManifests(folder: string): readonly Manifest[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .flatMap((name) => parseManifests(readFileSync(join(folder, name), 'utf8'), join(folder, name)));
}

/** The Pod template of a Deployment. */
export const podSpec = (manifest: Manifest): Node => manifest.body.at('spec', 'template', 'spec');

/** The exporter's own container of a Deployment or of a patch to one, wherever it runs. */
export const exporterContainers = (manifest: Manifest): readonly Node[] =>
  ['initContainers', 'containers']
    .flatMap((list) => podSpec(manifest).at(list).items())
    .filter((container) => container.at('name').value === 'inference-probe');
