// Fails when a dependency, direct or not, has a licence that nobody has agreed to. Reads what is installed, not what
// the lock file promises. The shipped bundle contains only the production ones; the rest runs on our machines.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// Permissive licences: use, change and sale allowed, only a notice required.
const PERMISSIVE = new Set(['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT']);
// Tools never enter the bundle, so copyleft that ends at their own files asks nothing of us.
const TOOLS_ONLY = new Set([...PERMISSIVE, 'MPL-2.0']);

const root = new URL('..', import.meta.url).pathname;
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));

/** "(MIT OR Apache-2.0)": one of them suffices. "MIT AND ISC": all are needed. */
function agreed(expression, allowed) {
  return expression
    .replaceAll(/[()]/g, '')
    .split(/\s+OR\s+/i)
    .some((choice) => choice.split(/\s+AND\s+/i).every((name) => allowed.has(name.trim())));
}

/** The licence that the installed package itself states; old packages use an object or a list. */
function licenceOf(manifest) {
  const stated = manifest.license ?? manifest.licenses;
  if (typeof stated === 'string') return stated;
  if (Array.isArray(stated)) return stated.map((entry) => entry.type ?? entry).join(' OR ');
  return stated?.type ?? null;
}

function installedManifest(path) {
  try {
    return JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
  } catch {
    return null;
  }
}

if (readdirSync(join(root, 'node_modules')).length === 0) throw new Error('nothing is installed: run npm ci');
let checked = 0;
const refused = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === '') continue;
  const manifest = installedManifest(path);
  // Binaries for other platforms are in the lock file and not on the disk; their licence is in the lock file as well.
  const licence = manifest === null ? (entry.license ?? null) : licenceOf(manifest);
  if (manifest === null && !entry.optional) refused.push(`${path}: not installed`);
  else if (licence === null) refused.push(`${path}: states no licence`);
  else if (!agreed(licence, entry.dev ? TOOLS_ONLY : PERMISSIVE)) refused.push(`${path}: ${licence}`);
  checked += 1;
}
if (refused.length > 0) {
  console.error(`licences: ${refused.length} of ${checked} packages are not agreed to:\n  ${refused.join('\n  ')}`);
  process.exit(1);
}
console.log(`licences: ${checked} packages, all agreed to`);
