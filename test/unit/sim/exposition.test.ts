import { describe, expect, it } from 'vitest';
import { pythonFloat, renderPage } from '../../../src/sim/exposition.ts';

describe('the simulated metrics page as text', () => {
  it.each([
    [0, '0.0'],
    [31, '31.0'],
    [-1, '-1.0'],
    [0.8695652173913043, '0.8695652173913043'],
    [20_000, '20000.0'],
    [951_517_184, '9.51517184e+08'],
    [1_795_975_895.88, '1.79597589588e+09'],
    [1_000_000, '1.0e+06'],
    [Number.POSITIVE_INFINITY, '+Inf'],
  ])('writes %d as the Python client does', (value, text) => {
    expect(pythonFloat(value)).toBe(text);
    expect(Number(pythonFloat(value).replace('+Inf', 'Infinity'))).toBe(value);
  });

  it('sorts labels, escapes their values, and puts _total into the metadata of counters', () => {
    const page = renderPage([
      {
        name: 'x',
        type: 'counter',
        help: 'two\nlines',
        samples: [{ labels: { b: 'say "hi"\\', a: 'line\nbreak' }, value: 2 }],
      },
      { name: 'y', type: 'gauge', help: 'none', samples: [{ labels: {}, value: 0.5 }] },
    ]);
    expect(page).toBe(
      [
        '# HELP x_total two\\nlines',
        '# TYPE x_total counter',
        'x_total{a="line\\nbreak",b="say \\"hi\\"\\\\"} 2.0',
        '# HELP y none',
        '# TYPE y gauge',
        'y 0.5',
        '',
      ].join('\n'),
    );
  });
});
