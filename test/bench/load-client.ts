import { systemClock } from '../../src/clock.ts';
import { loadConfigFromEnvironment } from '../../src/config/load.ts';
import { createLoadUnit } from '../../src/experiment/load-unit.ts';
import { silentLogger } from '../../src/log.ts';
import { seconds } from '../../src/units.ts';

/**
 * One worker of `inference-probe load` by itself: how many streamed events it takes in for a second of processor time.
 * Its records are made and written as lines, as in a run; nobody reads them here.
 *
 * Usage: load-client.ts URL STREAMS SECONDS TOKENS; prints one line of JSON.
 */
const [url = '', streams = '1', duration = '5', tokens = '48'] = process.argv.slice(2);
const clock = systemClock();
const { config } = loadConfigFromEnvironment({ INFERENCE_PROBE_TARGET_URL: url, INFERENCE_PROBE_MODEL: 'bench' });
const [target] = config.targets;
const profile = target?.profiles[0]?.profile;
if (target === undefined || profile === undefined) throw new Error('the default configuration has no target');

let [events, failed] = [0, 0];
let ttfts: number[] = [];
const unit = createLoadUnit(
  {
    target: {
      name: 'bench',
      url,
      model: 'bench',
      api: 'completions',
      engine: 'vllm',
      apiKey: null,
      headers: {},
      connection: target.connection,
    },
    profile: { ...profile, maxTokens: Number(tokens), promptTokens: 64 },
    disturbedAfterSeconds: seconds(0.02),
    refusedParameters: [],
    arrival: { kind: 'closed', concurrency: Number(streams) },
    worker: 0,
    workers: 1,
    seed: 'bench',
    prompts: { kind: 'made', promptTokens: 64, words: 40, prefix: 'unique', seed: 'bench' },
  },
  {
    clock,
    log: silentLogger(),
    origin: clock.monotonic(),
    report: (report) => {
      // The scripted server sends an event a token, and says how many.
      events += report.outputTokens;
      failed += report.failed;
      for (const [, ttftSeconds] of report.samples) ttfts.push(ttftSeconds);
    },
  },
);
const run = async (lengthSeconds: number): Promise<void> => {
  const startAtSeconds = clock.monotonic() - origin + 0.02;
  await unit.run('window', { startAtSeconds, untilSeconds: startAtSeconds + lengthSeconds, rampSeconds: 0.5 });
};
const origin = clock.monotonic();

// Connections and compiled code first, for as long as the other clients of the bench have.
await run(10);
[events, failed, ttfts] = [0, 0, []];
// On a busy machine the best second is nearest to what the program itself takes.
let bestSecond = 0;
let last = { cpu: process.cpuUsage(), events: 0 };
const sampler = setInterval(() => {
  const used = process.cpuUsage(last.cpu);
  bestSecond = Math.max(bestSecond, (events - last.events) / ((used.user + used.system) / 1e6));
  last = { cpu: process.cpuUsage(), events };
}, 2000);
const before = process.cpuUsage();
const startedAt = performance.now();
await run(Number(duration));
const cpu = process.cpuUsage(before);
const cpuSeconds = (cpu.user + cpu.system) / 1e6;
clearInterval(sampler);
const wallSeconds = (performance.now() - startedAt) / 1000;
ttfts.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    events,
    failed,
    cpuSeconds,
    wallSeconds,
    eventsPerCpuSecond: events / cpuSeconds,
    bestEventsPerCpuSecond: bestSecond,
    userShare: cpu.user / (cpu.user + cpu.system),
    ttftP50Seconds: ttfts[Math.floor(ttfts.length / 2)],
    ttftP99Seconds: ttfts[Math.floor(ttfts.length * 0.99)],
  }),
);
await unit.close();
