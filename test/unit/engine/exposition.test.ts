import { describe, expect, it } from 'vitest';
import { createExpositionParser, type ExpositionPage, parseExposition } from '../../../src/engine/exposition.ts';
import { type ExpositionFormat, parseSampleLine, parseValue } from '../../../src/engine/exposition-line.ts';
import { everything } from '../../support/pages.ts';

const parse = (text: string, format: ExpositionFormat = 'text'): ExpositionPage =>
  parseExposition(text, { format, wants: everything });

function parseInPieces(text: string, size: number): ExpositionPage {
  const parser = createExpositionParser({ format: 'text', wants: everything });
  for (let at = 0; at < text.length; at += size) parser.feed(text.slice(at, at + size));
  return parser.end();
}

const values = (page: ExpositionPage, name: string): readonly number[] =>
  (page.samples.get(name) ?? []).map((sample) => sample.value);

const labels = (page: ExpositionPage, name: string): readonly Record<string, string>[] =>
  (page.samples.get(name) ?? []).map((sample) => Object.fromEntries(sample.labels));

describe('a sample line', () => {
  it.each([
    { id: 'plain', line: 'a 1', name: 'a', labels: {}, value: 1 },
    { id: 'colons', line: 'vllm:x:y_total 2', name: 'vllm:x:y_total', labels: {}, value: 2 },
    { id: 'labels', line: 'a{b="c",d="e"} 3', name: 'a', labels: { b: 'c', d: 'e' }, value: 3 },
    { id: 'trailing comma', line: 'a{b="c",} 3', name: 'a', labels: { b: 'c' }, value: 3 },
    { id: 'empty braces', line: 'a{} 3', name: 'a', labels: {}, value: 3 },
    { id: 'empty label value', line: 'a{b=""} 3', name: 'a', labels: { b: '' }, value: 3 },
    { id: 'blanks and tabs', line: '  a\t{ b = "c" , d="e" }\t 3 ', name: 'a', labels: { b: 'c', d: 'e' }, value: 3 },
    { id: 'no blank before the value', line: 'a{b="c"}3', name: 'a', labels: { b: 'c' }, value: 3 },
    { id: 'braces inside a value', line: 'a{b="}{,= # "} 3', name: 'a', labels: { b: '}{,= # ' }, value: 3 },
    { id: 'quoted name', line: '{"my.name"} 3', name: 'my.name', labels: {}, value: 3 },
    {
      id: 'quoted name and labels',
      line: '{"my.näme","l.x"="v",y="w"} 3',
      name: 'my.näme',
      labels: { 'l.x': 'v', y: 'w' },
      value: 3,
    },
    { id: 'unknown escape kept', line: 'a{b="\\d\\\\"} 1', name: 'a', labels: { b: '\\d\\' }, value: 1 },
    {
      id: 'a label that an object has by birth',
      line: 'a{__proto__="x"} 1',
      name: 'a',
      labels: { ['__proto__']: 'x' },
      value: 1,
    },
  ])('is read: $id', ({ line, name, labels: expected, value }) => {
    const sample = parseSampleLine(line, 'text');
    expect(sample?.name).toBe(name);
    expect([...(sample?.labels ?? [])]).toEqual(Object.entries(expected));
    expect(sample?.value).toBe(value);
  });

  it.each([
    'a',
    'a ',
    'a{',
    'a{b',
    'a{b=',
    'a{b=c} 1',
    'a{b="c} 1',
    'a{b="c"',
    'a{b="c" d="e"} 1',
    'a{b="c",b="d"} 1',
    'a{"b"} 1',
    '{} 1',
    '{""} 1',
    '{"a","b"} 1',
    '{a="b"} 1',
    'a{1b="c"} 1',
    '1a 1',
    'a-b 1',
    'a one',
    'a 1 2 3',
    'a 1 later',
    'a{b="c"}} 1',
  ])('is refused: %s', (line) => {
    expect(parseSampleLine(line, 'text')).toBeNull();
  });
});

describe('values', () => {
  it.each([
    ['NaN', Number.NaN],
    ['Nan', Number.NaN],
    ['nan', Number.NaN],
    ['+Inf', Number.POSITIVE_INFINITY],
    ['Inf', Number.POSITIVE_INFINITY],
    ['-inf', Number.NEGATIVE_INFINITY],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['1e+06', 1e6],
    ['1.', 1],
    ['.5', 0.5],
    ['-0', -0],
    ['+3', 3],
    ['1.7959776515061066e+09', 1_795_977_651.506_106_6],
  ])('G-095: %s is a number', (token, value) => {
    expect(parseValue(token)).toBe(value);
  });

  it.each(['0x1p-2', '0x10', '1_000', '', '1e', '--1', 'infinit', '1,5', '0b1', '1n', '١'])(
    'G-095: %j is none',
    (token) => {
      expect(parseValue(token)).toBeNull();
    },
  );

  it('G-095: counts lines with impossible values as malformed and keeps the rest', () => {
    const page = parse('kv NaN\nq +Inf\nr -Inf\ns Nan\nt 1e+06\nu 0x1p-2\nv 1_000\n');
    expect(page.malformedLines).toBe(2);
    expect([...page.samples.keys()]).toEqual(['kv', 'q', 'r', 's', 't']);
    expect(values(page, 't')).toEqual([1_000_000]);
  });
});

describe('a page', () => {
  it("G-085: holds a label value that is another language's text of a dictionary", () => {
    const page = parse(`vllm:request_info{method="{'method': 'prefill', 'n': \\"2\\"}",model_name="m"} 3\n`);
    expect(labels(page, 'vllm:request_info')).toEqual([{ method: `{'method': 'prefill', 'n': "2"}`, model_name: 'm' }]);
    expect(values(page, 'vllm:request_info')).toEqual([3]);
  });

  it('G-086: unescapes backslash, quote and newline, and nothing else', () => {
    const page = parse('vllm:num_requests_running{model_name="C:\\\\models\\\\a\\"b\\nc"} 1\n');
    expect(labels(page, 'vllm:num_requests_running')).toEqual([{ model_name: 'C:\\models\\a"b\nc' }]);
  });

  it('G-088: takes families that are declared twice, late and interleaved; the first declaration counts', () => {
    const page = parse('# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# TYPE a counter\na{x="2"} 2\n');
    expect(page.types.get('a')).toBe('gauge');
    expect([values(page, 'a'), values(page, 'b')]).toEqual([[1, 2], [1]]);
  });

  it('G-089: reads a last line without its line feed and says that it was not closed', () => {
    const page = parse('# TYPE a gauge\na 1');
    expect(values(page, 'a')).toEqual([1]);
    expect(page.closed).toBe(false);
  });

  it('G-091: passes over an exemplar in a text page and keeps the rest', () => {
    const page = parse('h_bucket{le="1"} 5 # {trace_id="abc"} 0.7 1700000000\nh_bucket{le="+Inf"} 6\n');
    expect(values(page, 'h_bucket')).toEqual([5, 6]);
    expect(page.malformedLines).toBe(0);
  });

  it('G-092: takes # EOF for a comment in a text page, and for the end in OpenMetrics', () => {
    const text = parse('a 1\n# EOF\nb 2\n');
    expect([values(text, 'b'), text.dataAfterEof]).toEqual([[2], false]);
    const open = parse('a 1\n# EOF\nb 2\n', 'openmetrics');
    expect([values(open, 'a'), values(open, 'b'), open.eof, open.dataAfterEof]).toEqual([[1], [], true, true]);
  });

  it('G-094: reads whole-millisecond timestamps, and fractional ones in OpenMetrics only', () => {
    const text = 'a 1 1700000000000\nb 2 1700000000.123\nc 3 -1\n';
    const page = parse(text);
    expect(page.samples.get('a')?.[0]?.timestampMs).toBe(1_700_000_000_000);
    expect(page.samples.get('c')?.[0]?.timestampMs).toBe(-1);
    expect([page.samples.has('b'), page.malformedLines]).toEqual([false, 1]);
    const open = parse('b 2 1700000000.123\n# EOF\n', 'openmetrics');
    expect(open.samples.get('b')?.[0]?.timestampMs).toBeCloseTo(1_700_000_000_123, 0);
  });

  it('G-103: remembers a family that is declared and has no sample yet', () => {
    const page = parse('# HELP vllm:num_preemptions x\n# TYPE vllm:num_preemptions counter\n');
    expect(page.types.get('vllm:num_preemptions')).toBe('counter');
    expect(page).toMatchObject({ sampleLines: 0, malformedLines: 0, foreign: false, empty: false });
  });

  it('G-104: keeps the samples of types that it does not know', () => {
    const page = parse(
      '# TYPE vllm:cache_config info\nvllm:cache_config_info{block_size="16",num_gpu_blocks="None"} 1\n' +
        '# TYPE x gaugehistogram\nx_bucket{le="1"} 2\n# TYPE y stateset\ny{y="on"} 1\n',
    );
    expect([...page.samples.keys()]).toEqual(['vllm:cache_config_info', 'x_bucket', 'y']);
    expect(page.malformedLines).toBe(0);
  });

  it('counts the first of two equal series, in whatever order their labels are', () => {
    const page = parse('a{x="1",y="2"} 1\na{y="2",x="1"} 9\na{x="1",y="3"} 2\n');
    expect([values(page, 'a'), page.duplicates]).toEqual([[1, 2], 1]);
  });

  it('reads CRLF line ends', () => {
    const page = parse('# TYPE a gauge\r\na 1\r\n\r\nb{c="d"} 2\r\n');
    expect([values(page, 'a'), values(page, 'b'), page.types.get('a'), page.closed]).toEqual([[1], [2], 'gauge', true]);
  });

  it('reads declarations of quoted names', () => {
    const page = parse('# TYPE "my.name" counter\n{"my.name"} 4\n');
    expect([page.types.get('my.name'), values(page, 'my.name')]).toEqual(['counter', [4]]);
  });

  it('passes over bad lines one by one', () => {
    const page = parse('a 1\nbroken{ 2\n???\nb 2\n');
    expect([values(page, 'a'), values(page, 'b'), page.malformedLines]).toEqual([[1], [2], 2]);
  });

  it('R-013: does not take a histogram named ..._total, nor a _created gauge, for a counter', () => {
    const text = '# TYPE vllm:iteration_tokens_total histogram\nvllm:iteration_tokens_total_count 130\n';
    const page = parse(`${text}# TYPE vllm:prompt_tokens_created gauge\nvllm:prompt_tokens_created 1.79e9\n`);
    expect(page.samples.has('vllm:iteration_tokens_total')).toBe(false);
    expect(page.samples.has('vllm:prompt_tokens_total')).toBe(false);
  });
});

describe('a page that is none', () => {
  it.each([
    '<html><body>hello world</body></html>',
    'OK',
    'Not Found\n',
    '[]',
    '{"detail":"Not Found"}\n',
    'up\ndown\n',
  ])('G-098: %j is foreign', (text) => {
    expect(parse(text).foreign).toBe(true);
  });

  it.each(['', '\n', '  \r\n\t\n'])('%j is empty', (text) => {
    expect(parse(text)).toMatchObject({ empty: true, foreign: false });
  });
});

describe('bounds', () => {
  it.each([1_000_000, 10_000, 7_777])('gives up an endless line in pieces of %d, and reads the next one', (size) => {
    const page = parseInPieces(`a{b="${'x'.repeat(300_000)}"} 1\nb 2\n`, size);
    expect([page.samples.has('a'), values(page, 'b'), page.malformedLines]).toEqual([false, [2], 1]);
  });

  it('holds a bounded number of samples and names', () => {
    const lines = Array.from({ length: 60_000 }, (_, index) => `m${index} ${index}`).join('\n');
    const page = parse(`${lines}\n`);
    const held = [...page.samples.values()].reduce((sum, samples) => sum + samples.length, 0);
    expect([page.sampleLines, held, page.names.size]).toEqual([60_000, 50_000, 5_000]);
  });

  it('holds only what is wanted', () => {
    const page = parseExposition('a 1\nb{x="1"} 2\nb{x="2"} 3\nbb 4\n', {
      format: 'text',
      wants: (name) => name === 'b',
    });
    expect([...page.samples.keys()]).toEqual(['b']);
    expect(values(page, 'b')).toEqual([2, 3]);
    expect([...page.names]).toEqual(['a', 'b', 'bb']);
  });
});
