/** Parts of packages that the program never runs, and what stands in the bundle instead of them. */
const INSTEAD = [
  { name: /^undici$/, from: /\/src\//, file: 'undici.mjs' },
  { name: /^prom-client$/, from: /\/src\//, file: 'prom-client.mjs' },
  { name: /^thread-stream$/, from: /\/node_modules\/pino\//, file: 'thread-stream.mjs' },
  { name: /^qs$/, from: /\/node_modules\/express\//, file: 'qs.mjs' },
  { name: /^body-parser$/, from: /\/node_modules\/express\//, file: 'body-parser.mjs' },
  { name: /^mime-db$/, from: /\/node_modules\/mime-types\//, file: 'media-types.mjs' },
  { name: /^\.\.\/locales\/index\.js$/, from: /\/node_modules\/zod\//, file: 'zod-locales.mjs' },
];

/** An esbuild plugin that puts them there. */
export const leaveOut = {
  name: 'leave-out',
  setup(build) {
    for (const { name, from, file } of INSTEAD) {
      build.onResolve({ filter: name }, ({ importer }) =>
        from.test(importer) ? { path: new URL(file, import.meta.url).pathname } : undefined,
      );
    }
  },
};
