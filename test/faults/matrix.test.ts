import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { account, failures, goodProbes, INTERVAL_SECONDS, settled, skips, value } from './support/accounts.ts';
import { type Exporter, pause, type SimulatedEngine, startEngine, startExporter, until } from './support/processes.ts';
import { type Relay, startRelay } from './support/relay.ts';

/** Short, so that a fault shows soon; far longer than anything takes here when nothing is wrong. */
const DEADLINES = '{connect: 4s, headers: 4s, first_token: 4s, between_tokens: 4s, total: 12s}';

let main: SimulatedEngine;
let hanging: SimulatedEngine;
let frozen: SimulatedEngine;
let exporter: Exporter;
let plain: Relay;
let halfOpen: Relay;
let tls: Relay;
let config = '';

const target = (name: string, url: string, more = ''): string =>
  `  - {name: ${name}, url: "${url}", model: sim, api: completions, engine: vllm, vantage: cluster, warmup_probes: 0${more}}\n`;

function configuration(): string {
  return `
web: {listen_address: "127.0.0.1:0"}
# This machine may be busy with other things; only what is planted here must stand out.
disturbed_after: 700ms
metrics: {every: 500ms, stale_after: 3s, hang_after: 3s}
budget: {tokens_per_hour: 100000000, tokens_per_day: 1000000000}
slo: {ttft: {threshold: 10s}, tpot: {threshold: 1s}}
profiles:
  - {name: cold, every: ${INTERVAL_SECONDS}s, allow_overlap: true, connection: fresh, prompt_tokens: 32, max_tokens: 16, deadlines: ${DEADLINES}}
targets:
${target('main', `http://engine.faults.test:${plain.port}`)}${target('hanging', `http://127.0.0.1:${hanging.port}`)}${target('frozen', `http://127.0.0.1:${frozen.port}`)}${target('half-open', `http://127.0.0.1:${halfOpen.port}`)}${target('tls', `https://127.0.0.1:${tls.port}`, `, connection: {tls: {ca_file: "${resolve('test/fixtures/tls/ca.pem')}"}}`)}`;
}

let idleDescriptors = 0;

beforeAll(async () => {
  [main, hanging, frozen] = await Promise.all([startEngine(), startEngine(), startEngine()]);
  plain = await startRelay(() => main.port);
  halfOpen = await startRelay(() => main.port);
  tls = await startRelay(() => main.port, 'server');
  config = configuration();
  exporter = await startExporter(() => config);
  for (const name of ['main', 'hanging', 'frozen', 'half-open', 'tls']) await goodProbes(exporter, name, 2, 60);
  idleDescriptors = exporter.descriptors();
});
afterAll(async () => {
  exporter?.process.dispose();
  for (const engine of [main, hanging, frozen]) engine?.process.dispose();
  for (const relay of [plain, halfOpen, tls]) await relay?.close();
});

interface Fault {
  readonly target: string;
  begin(): Promise<unknown>;
  /** Waits until the exporter shows what the fault is. */
  seen(): Promise<unknown>;
  end(): Promise<unknown>;
}

/** Lives through a fault: it is seen, it ends, probes are good again, and the books are right. */
async function survive(fault: Fault): Promise<void> {
  await goodProbes(exporter, fault.target, 1);
  const before = await account(exporter, fault.target);
  await fault.begin();
  try {
    await fault.seen();
  } finally {
    // Also where it was not seen: the tests after this one, and a second attempt at it, begin without the fault.
    await fault.end();
  }
  await goodProbes(exporter, fault.target, 2);
  await settled(exporter, fault.target, before);
}

/** Waits until there are more failures for a reason than when this was called. */
const fails = (name: string, ...reasons: readonly string[]) => {
  const total = async (): Promise<number> =>
    (await Promise.all(reasons.map((reason) => failures(exporter, name, reason)))).reduce((a, b) => a + b, 0);
  let before = 0;
  return {
    note: async () => {
      before = await total();
    },
    seen: () => until(`a failure of ${name} for ${reasons}`, total, (now) => now > before),
  };
};

describe('timeouts', () => {
  // After two timeouts the next probe waits until the engine has surely given up the orphaned generations: a minute.
  it('an engine that hangs, one that is stopped, and sockets that nobody closes: each has its own reason', async () => {
    const hang = fails('hanging', 'ttft_timeout');
    const freeze = fails('frozen', 'headers_timeout', 'connect_timeout', 'ttft_timeout');
    const silence = fails('half-open', 'headers_timeout', 'ttft_timeout', 'stalled');
    await Promise.all([
      survive({
        target: 'hanging',
        begin: async () => {
          await hang.note();
          await hanging.fault({ kind: 'hang' });
        },
        seen: async () => {
          await hang.seen();
          await until(
            'hung',
            () => value(exporter, 'inference_engine_hung', 'hanging'),
            (hung) => hung === 1,
          );
        },
        end: () => hanging.fault({ kind: 'clear' }),
      }),
      survive({
        target: 'frozen',
        begin: async () => {
          await freeze.note();
          frozen.process.signal('SIGSTOP');
        },
        seen: async () => {
          await freeze.seen();
          await until(
            'down',
            () => value(exporter, 'inference_engine_up', 'frozen'),
            (up) => up === 0,
          );
        },
        end: async () => frozen.process.signal('SIGCONT'),
      }),
      survive({
        target: 'half-open',
        begin: async () => {
          await silence.note();
          halfOpen.mode = 'silent';
        },
        seen: silence.seen,
        end: async () => {
          halfOpen.mode = 'pass';
        },
      }),
    ]);
  });
});

describe('the engine', () => {
  it('is killed and comes back', async () => {
    const gone = fails('main', 'connect_refused', 'connection_lost', 'truncated');
    await survive({
      target: 'main',
      begin: async () => {
        await gone.note();
        main.process.signal('SIGKILL');
        await main.process.finished();
      },
      seen: async () => {
        await gone.seen();
        await until(
          'down',
          () => value(exporter, 'inference_engine_up', 'main'),
          (up) => up === 0,
        );
        // Stale figures go: absent, not 0.
        await until(
          'stale',
          () => value(exporter, 'inference_engine_requests_running', 'main'),
          (now) => now === null,
        );
      },
      end: async () => {
        main = await startEngine();
      },
    });
    await until(
      'up',
      () => value(exporter, 'inference_engine_up', 'main'),
      (up) => up === 1,
    );
  });

  it('restarts by itself, and its counters go on rising here', async () => {
    const restarts = () => value(exporter, 'inference_engine_restarts_total', 'main');
    const generated = () => value(exporter, 'inference_engine_generation_tokens_total', 'main');
    await until('counters', generated, (now) => now !== null);
    const before = [await restarts(), await generated()];
    await survive({
      target: 'main',
      begin: () => main.fault({ kind: 'restart', down_seconds: 1.5 }),
      seen: () => until('restarted', restarts, (now) => (now ?? 0) > (before[0] ?? 0)),
      end: async () => {},
    });
    expect(await generated()).toBeGreaterThanOrEqual(before[1] ?? 0);
  });

  it('is slow: no failure, and ticks that a slow probe covers are counted', async () => {
    const [overlaps, failed] = [await skips(exporter, 'main', 'overlap'), (await account(exporter, 'main')).failures];
    await survive({
      target: 'main',
      begin: () => main.fault({ kind: 'slow', factor: 25 }),
      seen: () =>
        until(
          'overlaps',
          () => skips(exporter, 'main', 'overlap'),
          (now) => now > overlaps,
        ),
      end: () => main.fault({ kind: 'clear' }),
    });
    expect((await account(exporter, 'main')).failures).toBe(failed);
  });

  it('has a page that breaks off: failed polls, and probes that do not mind', async () => {
    const failedPolls = async (): Promise<number> =>
      [...(await exporter.page())]
        .filter(([series]) => series.startsWith('inference_engine_poll_failures_total{target="main"'))
        .reduce((sum, [, count]) => sum + count, 0);
    const [polls, failed] = [await failedPolls(), (await account(exporter, 'main')).failures];
    await survive({
      target: 'main',
      begin: async () => {
        plain.cutPagesAt = 600;
        plain.dropAll();
      },
      seen: async () => {
        await until('failed polls', failedPolls, (now) => now > polls + 2);
        await until(
          'down',
          () => value(exporter, 'inference_engine_up', 'main'),
          (up) => up === 0,
        );
      },
      end: async () => {
        plain.cutPagesAt = null;
      },
    });
    await until(
      'up',
      () => value(exporter, 'inference_engine_up', 'main'),
      (up) => up === 1,
    );
    // A probe may have been on a connection that was dropped at the beginning.
    expect((await account(exporter, 'main')).failures).toBeLessThanOrEqual(failed + 1);
  });
});

describe('the path', () => {
  it('refuses connections', async () => {
    const refused = fails('main', 'connect_refused');
    await survive({
      target: 'main',
      begin: async () => {
        await refused.note();
        await plain.refuse();
      },
      seen: refused.seen,
      end: () => plain.accept(),
    });
  });

  it('has no DNS for a while', async () => {
    const lost = fails('main', 'dns');
    await survive({
      target: 'main',
      begin: async () => {
        await lost.note();
        await exporter.control({ dnsDown: true });
      },
      seen: lost.seen,
      end: () => exporter.control({}),
    });
  });

  it('has a certificate that expires while we run', async () => {
    const expired = fails('tls', 'tls');
    await survive({
      target: 'tls',
      begin: async () => {
        await expired.note();
        tls.present('expired');
        tls.dropAll();
      },
      seen: expired.seen,
      end: async () => tls.present('server'),
    });
  });
});

describe('the exporter', () => {
  it.each([3600, -3600])('has its wall clock stepped by %d s: nothing but timestamps notices', async (step) => {
    const before = await account(exporter, 'main');
    await exporter.control({ clockStepSeconds: step });
    const page = await goodProbes(exporter, 'main', 2)
      .then(() => exporter.page())
      .finally(() => exporter.control({}));
    const stamp = page.get('inference_probe_last_success_timestamp_seconds{target="main",model="sim",profile="cold"}');
    expect((stamp ?? 0) - Date.now() / 1000 - step).toBeGreaterThan(-60);
    expect((stamp ?? 0) - Date.now() / 1000 - step).toBeLessThan(60);
    const durations = [...page].filter(([series]) => /_seconds_(sum|bucket)/.test(series));
    expect(durations.filter(([, seconds]) => seconds < 0)).toEqual([]);
    expect(
      page.get('inference_probe_duration_seconds_sum{target="main",model="sim",profile="cold",outcome="success"}'),
    ).toBeLessThan(3000);
    await goodProbes(exporter, 'main', 1);
    await settled(exporter, 'main', before);
    expect((await account(exporter, 'main')).failures).toBe(before.failures);
  });

  it('has its configuration broken and mended', async () => {
    const before = await account(exporter, 'main');
    const loaded = async () => (await exporter.page()).get('inference_probe_exporter_config_last_reload_successful');
    exporter.configure(config.replace('targets:', 'target:'));
    expect(await exporter.reload()).toBe(500);
    expect(await loaded()).toBe(0);
    await goodProbes(exporter, 'main', 1);
    exporter.configure(config);
    expect(await exporter.reload()).toBe(200);
    expect(await loaded()).toBe(1);
    await goodProbes(exporter, 'main', 1);
    await settled(exporter, 'main', before);
  });

  it('is scraped a hundred times at once, and every scrape is whole', async () => {
    const before = await account(exporter, 'main');
    const pages = await Promise.all(Array.from({ length: 100 }, () => exporter.page()));
    const sizes = pages.map(
      (page) => [...page.keys()].filter((series) => series.startsWith('inference_probe_')).length,
    );
    expect(Math.min(...sizes)).toBe(Math.max(...sizes));
    await goodProbes(exporter, 'main', 1);
    await settled(exporter, 'main', before);
    expect((await account(exporter, 'main')).failures).toBe(before.failures);
  });

  it('has scrapers that ask and never read: others are served, and their sockets go with them', async () => {
    const before = await account(exporter, 'main');
    const sockets = Array.from({ length: 20 }, () => {
      const socket = connect(Number(new URL(exporter.base).port), '127.0.0.1');
      socket.on('error', () => {});
      socket.pause();
      socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(40));
      return socket;
    });
    await goodProbes(exporter, 'main', 2);
    for (const socket of sockets) socket.destroy();
    await settled(exporter, 'main', before);
    expect((await account(exporter, 'main')).failures).toBe(before.failures);
  });

  it('is stopped and continued: the ticks meanwhile are counted, and the engine is not blamed', async () => {
    const before = await account(exporter, 'main');
    exporter.process.signal('SIGSTOP');
    await pause(4);
    exporter.process.signal('SIGCONT');
    await goodProbes(exporter, 'main', 2);
    await settled(exporter, 'main', before);
    const now = await account(exporter, 'main');
    expect(now.skipped).toBeGreaterThan(before.skipped);
    expect(now.failures).toBe(before.failures);
  });

  it('has its event loop blocked: samples are marked as disturbed and not as slow', async () => {
    const disturbed = async (): Promise<number> =>
      [...(await exporter.page())]
        .filter(([series]) => series.startsWith('inference_probe_disturbed_samples_total{'))
        .reduce((sum, [, count]) => sum + count, 0);
    const [before, count] = [await account(exporter, 'main'), await disturbed()];
    // Probes of two thirds of a second, so that a block finds one in flight.
    await main.fault({ kind: 'slow', factor: 8 });
    try {
      for (let block = 0; block < 12 && (await disturbed()) === count; block += 1) {
        await exporter.control({ blockSeconds: 1.5 });
        await pause(0.4);
      }
      expect(await disturbed()).toBeGreaterThan(count);
    } finally {
      await main.fault({ kind: 'clear' });
    }
    await goodProbes(exporter, 'main', 2);
    await settled(exporter, 'main', before);
    expect((await account(exporter, 'main')).failures).toBe(before.failures);
  });

  it('shares the machine with programs that burn CPU', async () => {
    const before = await account(exporter, 'main');
    const burners = [1, 2].map(() => spawn(process.execPath, ['-e', 'for(;;);'], { stdio: 'ignore' }));
    await pause(4);
    for (const burner of burners) burner.kill('SIGKILL');
    await goodProbes(exporter, 'main', 2);
    await settled(exporter, 'main', before);
    expect((await account(exporter, 'main')).failures).toBe(before.failures);
  });

  it('has leaked nothing at the end of all this, logged no error of its own, and stops in good order', async () => {
    for (const name of ['hanging', 'frozen', 'half-open', 'tls']) await goodProbes(exporter, name, 1);
    // A fresh probe or a poll may have its socket open at the moment of looking.
    await until(
      'descriptors',
      () => exporter.descriptors(),
      (now) => now <= idleDescriptors + 2,
    );
    // A connection that breaks off is never taken for something that is no HTTP.
    for (const name of ['main', 'tls']) expect(await failures(exporter, name, 'protocol_error')).toBe(0);
    expect(exporter.process.said()).not.toMatch(/UnhandledPromise|MaxListeners|uncaught/i);
    expect(await exporter.stop()).toBe(0);
  });
});
