import type { KeyPath, Report } from './report.ts';

/** The environment, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

// $${ is the escape; anything else after ${ than a plain name is refused, so that ${NAME:-x} is not taken literally.
const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function expandText(text: string, path: KeyPath, environment: Environment, report: Report): string {
  if (!text.includes('${')) return text;
  return text.replace(REFERENCE, (whole: string, name: string | undefined, end: string | undefined) => {
    if (name === undefined) return '${';
    if (end === '' || !NAME.test(name)) {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the text speaks of this very form.
      report.error(path, 'holds ${ that is no reference such as ${NAME}; write $${ for the characters themselves');
      return whole;
    }
    const value = environment[name];
    if (value !== undefined) return value;
    report.error(path, `refers to the environment variable ${name}, which is not set`);
    return whole;
  });
}

/**
 * Replaces `${NAME}` in text values by environment variables. Runs after YAML is parsed, so that a variable can hold
 * anything without becoming structure; keys are left alone, and the result is always text.
 */
export function expandEnvironment(
  value: unknown,
  environment: Environment,
  report: Report,
  path: KeyPath = [],
): unknown {
  if (typeof value === 'string') return expandText(value, path, environment, report);
  if (Array.isArray(value))
    return value.map((item, index) => expandEnvironment(item, environment, report, [...path, index]));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, item]): [string, unknown] => [
    name,
    expandEnvironment(item, environment, report, [...path, name]),
  ]);
  return Object.fromEntries(entries);
}
