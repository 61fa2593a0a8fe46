// Fails when a tracked file holds what must not be published: marks of unfinished work, tests that run alone or never,
// paths of one machine, and hosts of package indexes (installs go through whatever index the machine is set up with).
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

// This file names what it looks for.
const SELF = 'scripts/hygiene.mjs';
const BINARY = /\.(png|jpe?g|gz|pb|ico|woff2?)$/;

const RULES = [
  { what: 'a merge conflict', pattern: /^(<{7}|>{7}) /m },
  { what: 'unfinished work', pattern: /\b(TODO|FIXME|XXX|HACK)\b/, only: /\.(ts|mjs|js|py|sh|yml|yaml|css|html)$/ },
  { what: 'a test that runs alone', pattern: /\b(it|test|describe)\.only\(/, only: /\.test\.ts$/ },
  { what: 'a test that never runs', pattern: /\b(it|test|describe)\.(skip|todo)\(/, only: /\.test\.ts$/ },
  { what: "a path of one person's machine", pattern: /(^|[\s"'`(=])\/(root|work|Users|home\/(?!nonroot)\w+)\// },
  {
    what: 'the host of a package index',
    pattern: /\bhttps?:\/\/(registry|pypi|files|deb|sum|index|proxy\.go\w*)\.[\w.]+/,
  },
];

const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').filter(Boolean);
const found = [];
for (const file of files) {
  // Recorded bytes of real engines are what they are.
  if (file === SELF || BINARY.test(file) || /(^|\/)fixtures\//.test(file)) continue;
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    continue; // Deleted in the work tree, or a link to nowhere.
  }
  for (const { what, pattern, only } of RULES) {
    if (only !== undefined && !only.test(file)) continue;
    const match = pattern.exec(text);
    if (match) found.push(`${file}:${text.slice(0, match.index).split('\n').length}: ${what}: ${match[0].trim()}`);
  }
}
if (found.length > 0) {
  console.error(`hygiene: ${found.length} finding(s)\n  ${found.join('\n  ')}`);
  process.exit(1);
}
console.log(`hygiene: ${files.length} files clean`);
