// Builds the shipped program: one ESM file with a source map and the licence notices of what is inside.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { requireBuiltins } from './bundle/builtins.mjs';
import { leaveOut } from './bundle/leave-out.mjs';

const { version, dependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** The commit the build is made from; a build outside a checkout (a tarball, an image layer) says "unknown". */
function revision() {
  if (process.env.INFERENCE_PROBE_REVISION) return process.env.INFERENCE_PROBE_REVISION;
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}

const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');

/** Files of the live page, which are served as they stand. */
const pageFiles = Object.fromEntries(
  readdirSync(new URL('../src/http/page/', import.meta.url))
    .filter((name) => !name.endsWith('.ts'))
    .map((name) => [name, read(`../src/http/page/${name}`)]),
);

await build({
  entryPoints: [new URL('../src/main.ts', import.meta.url).pathname],
  // Tests build into a folder of their own: `node scripts/build.mjs FILE`.
  outfile: process.argv[2] ?? new URL('../dist/inference-probe.mjs', import.meta.url).pathname,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  sourcemap: true,
  // Every byte is read, decoded and compiled at each start. Names stay, for stacks without the source map.
  minifySyntax: true,
  minifyWhitespace: true,
  plugins: [leaveOut, requireBuiltins],
  legalComments: 'linked',
  loader: { '.html': 'text', '.css': 'text', '.svg': 'text' },
  define: {
    __VERSION__: JSON.stringify(version),
    __REVISION__: JSON.stringify(revision()),
    __DEPENDENCIES__: JSON.stringify(dependencies),
    __PAGE_FILES__: JSON.stringify(pageFiles),
    // Runs in a thread of its own, from text: the program stays one file.
    __BCRYPT_SOURCE__: JSON.stringify(read('../node_modules/bcryptjs/umd/index.js')),
  },
  // Bundled CommonJS packages call require(); an ES module has none of its own.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
