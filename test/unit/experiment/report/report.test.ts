import { describe, expect, it } from 'vitest';
import { chart, facts, heading, list, notice, paragraph, table } from '../../../../src/experiment/report-document.ts';
import { reportHtml } from '../../../../src/experiment/report-html.ts';
import { reportMarkdown } from '../../../../src/experiment/report-markdown.ts';
import { element } from '../../../../src/experiment/report-markup.ts';
import { runDocument } from '../../../../src/experiment/report-run.ts';
import { summarise } from '../../../../src/experiment/summary.ts';
import { sampleRun } from '../../../support/sample-run.ts';

const EVIL = `<img src=x onerror="alert(1)">&amp;'|\u0000\n# *b*`;

describe('a report', () => {
  const document = {
    title: EVIL,
    subtitle: EVIL,
    blocks: [
      heading(EVIL),
      paragraph(EVIL),
      notice('bad', EVIL, EVIL),
      list([EVIL]),
      facts([[EVIL, EVIL]]),
      table(EVIL, [EVIL], [[EVIL], [{ text: EVIL, tone: 'warn' }]]),
      chart(EVIL, EVIL, element('svg', { 'aria-label': EVIL }, element('title', {}, EVIL))),
    ],
  };

  it('shows markup in the data as text, wherever it stands', () => {
    const html = reportHtml(document, EVIL);
    expect(html).not.toContain('<img');
    expect(html).not.toContain('onerror="');
    expect(html).not.toContain('\u0000');
    expect(html.split('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;amp;&#39;|')).toHaveLength(20);
  });

  it('keeps the data on its line and out of the markup in Markdown, too', () => {
    const markdown = reportMarkdown(document, EVIL);
    expect(markdown).not.toMatch(/(?<!\\)<img/);
    expect(markdown).not.toMatch(/^# \*b\*/m);
    const rows = markdown.split('\n').filter((line) => line.startsWith('| '));
    expect(rows).toHaveLength(4);
    for (const row of rows) expect(row.match(/(?<!\\)\|/g)).toHaveLength(2);
  });

  it('loads nothing and runs nothing', () => {
    const html = reportHtml(runDocument(withSummary({ concurrency: 4 })), 'footer');
    expect(html).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\bon\w+=/);
    expect(html.match(/https?:\/\/[^"\s<]+/g)?.filter((url) => url !== 'http://www.w3.org/2000/svg') ?? []).toEqual([]);
    expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  });
});

function withSummary(run: Parameters<typeof sampleRun>[0]) {
  const records = sampleRun({ windowSeconds: 60, trimSeconds: 5, ...run });
  return { ...records, summary: summarise(records) };
}

describe('the report of a run', () => {
  const both = (run: Parameters<typeof sampleRun>[0]) => {
    const document = runDocument(withSummary(run));
    return { markdown: reportMarkdown(document, ''), html: reportHtml(document, '') };
  };

  it('marks the slots of a gap with words, not by colour alone', () => {
    const { markdown, html } = both({ concurrency: 4, gap: { at: 30, seconds: 12 } });
    expect(markdown).toMatch(/[123] slots? below 70 % of the mean output/);
    expect(html).toContain('▼ low');
    expect(both({ concurrency: 4 }).html).not.toContain('▼ low');
  });

  it('tells failures first, with both readings of the quantiles', () => {
    const { markdown } = both({ concurrency: 4, failEvery: 5 });
    expect(markdown.indexOf('failed')).toBeLessThan(markdown.indexOf('## Throughput'));
    expect(markdown).toContain('server\\_error');
    expect(markdown).toContain('With failures counted as slower than anything that was seen');
  });

  it('marks the failures of requests that never left in the chart, too', () => {
    const run = withSummary({ concurrency: 1, windowSeconds: 20, failEvery: 5 });
    const requests = run.requests.map((one) => (one.outcome === 'failed' ? { ...one, sentAtSeconds: null } : one));
    const marks = (html: string): number => html.match(/>✕<\/text>/g)?.length ?? 0;
    const failed = requests.filter((one) => one.outcome === 'failed' && one.phase === 'window').length;
    expect(failed).toBeGreaterThan(0);
    expect(marks(reportHtml(runDocument({ ...run, requests }), ''))).toBe(failed);
  });

  it('keeps the words of a chart readable on a narrow screen: it scrolls instead of shrinking', () => {
    const { html } = both({ concurrency: 2 });
    expect(html).toMatch(/<figure><figcaption>.*?<\/figcaption><div class="scroll"><svg/);
    expect(html).toContain('@media screen and (max-width:700px){figure .scroll svg{width:720px}');
  });

  it('says so when a run was cut short or is still going', () => {
    expect(both({ concurrency: 2, ended: 'partial' }).markdown).toContain('Partial');
    expect(both({ concurrency: 2, ended: 'running' }).markdown).toContain('Not ended');
  });

  it('gives no p99 from too few requests', () => {
    const { markdown } = both({ concurrency: 1, windowSeconds: 20 });
    expect(markdown).toMatch(/– \(n=\d+\)/);
  });

  it('has one chart of what the engine said, above which lies the latency', () => {
    const { html } = both({ concurrency: 8, waiting: 3, preemptionsPerSecond: 0.5 });
    for (const title of ['TTFT of each request', 'KV cache usage', 'Requests in the engine', 'Preemptions since'])
      expect(html).toContain(title);
    expect(html).toContain('waiting (dashed)');
  });

  it('has no coordinates that are no numbers', () => {
    const cases = [
      { concurrency: 1 },
      { concurrency: 3, failEvery: 1 },
      { concurrency: 2, windowSeconds: 2, trimSeconds: 0.5 },
    ];
    for (const run of cases) expect(both(run).html).not.toMatch(/NaN|Infinity|undefined/);
  });
});
