// Put in by the bundler (scripts/build.mjs); absent when the sources run unbundled.
declare const __VERSION__: string | undefined;
declare const __REVISION__: string | undefined;
declare const __DEPENDENCIES__: Readonly<Record<string, string>> | undefined;

/** Version and commit of this build. */
export interface BuildVersion {
  readonly version: string;
  readonly revision: string;
}

/** What was built; "0.0.0-dev" and "unknown" when running from the sources. */
export function buildVersion(): BuildVersion {
  return {
    version: typeof __VERSION__ === 'string' ? __VERSION__ : '0.0.0-dev',
    revision: typeof __REVISION__ === 'string' ? __REVISION__ : 'unknown',
  };
}

/** Versions of the packages inside of this build; empty when running from the sources. */
export const buildDependencies = (): Readonly<Record<string, string>> =>
  typeof __DEPENDENCIES__ === 'object' ? __DEPENDENCIES__ : {};
