import { realpathSync } from 'node:fs';

/** The built program, which a thread can run anew; null when the sources run, which it cannot. */
export function ownScript(path = process.argv[1]): string | null {
  if (path === undefined) return null;
  try {
    // The command on the PATH is a link without an ending, which a thread would not take for a module.
    const real = realpathSync(path);
    return real.endsWith('.mjs') ? real : null;
  } catch {
    return null;
  }
}
