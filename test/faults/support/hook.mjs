// Loaded into the program under test before it starts (node --import). What the machine does to a process and a test
// cannot: a resolver without an answer, a wall clock that is stepped, an event loop that stands still. On SIGUSR2 it
// reads the file FAULTS_CONTROL and does what stands there.
import dns from 'node:dns';
import { readFileSync, writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const HOST = 'engine.faults.test';
let control = { dnsDown: false, clockStepSeconds: 0, blockSeconds: 0 };

const systemLookup = dns.lookup;
dns.lookup = (hostname, options, callback) => {
  if (hostname !== HOST) return systemLookup(hostname, options, callback);
  const [wanted, done] = typeof options === 'function' ? [{}, options] : [options, callback];
  queueMicrotask(() => {
    if (control.dnsDown) done(Object.assign(new Error(`getaddrinfo ENOTFOUND ${HOST}`), { code: 'ENOTFOUND' }));
    else if (wanted.all) done(null, [{ address: '127.0.0.1', family: 4 }]);
    else done(null, '127.0.0.1', 4);
  });
};
syncBuiltinESMExports();

const systemNow = Date.now;
Date.now = () => systemNow() + control.clockStepSeconds * 1000;

process.on('SIGUSR2', () => {
  control = JSON.parse(readFileSync(process.env.FAULTS_CONTROL, 'utf8'));
  const until = performance.now() + control.blockSeconds * 1000;
  while (performance.now() < until);
  const timers = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  writeSync(2, `control ${control.order} is in force, timers: ${timers}\n`);
});
