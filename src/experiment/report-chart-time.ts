import { type Area, legend, line, marker, polyline, words } from './report-axes.ts';
import { asNumber, asPercent, asTime } from './report-format.ts';
import { element, fragment, type Markup } from './report-markup.ts';
import { fromZero, type Panel, type TimeSpan, timePanels } from './report-panels.ts';
import { latencyScale, type Scale } from './report-scale.ts';
import type { Summary, TimelineSlot } from './summary-types.ts';
import type { EngineRecord, RequestRecord } from './types.ts';
import { sentAt } from './window.ts';

const FLAG_RATIO = 0.7;
const MOST_DOTS = 1500;

const highest = (values: readonly (number | null)[]): number =>
  values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);

function spanOf(summary: Summary): TimeSpan {
  const { fromSeconds, toSeconds, trimSeconds } = summary.window;
  const first = summary.timeline[0]?.fromSeconds ?? fromSeconds - trimSeconds;
  const last = summary.timeline.at(-1)?.toSeconds ?? toSeconds + trimSeconds;
  return { from: first, to: Math.max(last, first + 1), figuresFrom: fromSeconds, figuresTo: toSeconds };
}

function slotBar(slot: TimelineSlot, x: Scale, y: Scale, area: Area): Markup {
  const left = x.at(slot.fromSeconds) + 1.5;
  const width = Math.max(1, x.at(slot.toSeconds) - x.at(slot.fromSeconds) - 3);
  const top = y.at(slot.outputTokensPerSecond);
  const tip = `${asNumber(slot.outputTokensPerSecond)} tokens/s${slot.flagged ? ', below 70 % of the mean' : ''}`;
  return fragment(
    element(
      'rect',
      {
        x: left,
        y: top,
        width,
        height: Math.max(0, area.bottom - top),
        class: slot.flagged ? 'bar flagged' : slot.inFigures ? 'bar' : 'bar outside',
      },
      element('title', {}, tip),
    ),
    slot.flagged
      ? words(left + width / 2, Math.min(top, area.bottom - 4) - 5, '▼ low', { anchor: 'middle', kind: 'flag' })
      : null,
    slot.failures > 0
      ? words(left + width / 2, area.top + 13, `✕${slot.failures}`, { anchor: 'middle', kind: 'flag' })
      : null,
  );
}

/** Output a second in slots of ten seconds, with the mean and the line below which a slot is flagged. */
export function timelineChart(summary: Summary): Markup {
  const slots = summary.timeline;
  const mean = summary.throughput.outputTokensPerSecond;
  const panel: Panel = {
    title: 'Output tokens a second, by slot',
    height: 190,
    y: fromZero(highest([...slots.map((slot) => slot.outputTokensPerSecond), mean]) * 1.12, 4),
    format: asNumber,
    draw: (x, y, area) => [
      ...slots.map((slot) => slotBar(slot, x, y, area)),
      line(area.left, y.at(mean), area.right, y.at(mean), 'mean'),
      line(area.left, y.at(mean * FLAG_RATIO), area.right, y.at(mean * FLAG_RATIO), 'limit'),
      words(area.right - 4, y.at(mean) - 5, `mean ${asNumber(mean)}`, { anchor: 'end', kind: 'note halo' }),
      words(area.right - 4, y.at(mean * FLAG_RATIO) + 13, '70 % of the mean', { anchor: 'end', kind: 'note halo' }),
    ],
  };
  return timePanels('Output tokens a second over the window', spanOf(summary), [panel]);
}

/** Thinned by time: of each short stretch the first and the slowest stay, so that no peak is lost. */
function thinned(requests: readonly RequestRecord[]): readonly RequestRecord[] {
  if (requests.length <= MOST_DOTS) return requests;
  const size = Math.ceil(requests.length / (MOST_DOTS / 2));
  const kept: RequestRecord[] = [];
  for (let index = 0; index < requests.length; index += size) {
    const stretch = requests.slice(index, index + size);
    const slowest = stretch.reduce((most, one) => ((one.ttftSeconds ?? 0) > (most.ttftSeconds ?? 0) ? one : most));
    kept.push(...new Set([stretch[0] ?? slowest, slowest]));
  }
  return kept;
}

function latencyPanel(summary: Summary, requests: readonly RequestRecord[]): Panel {
  const sent = requests.filter((request) => request.phase === 'window');
  const dots = thinned(sent.filter((request) => request.ttftSeconds !== null));
  const failed = thinned(sent.filter((request) => request.outcome === 'failed'));
  const values = dots.map((request) => request.ttftSeconds ?? 0);
  return {
    title: 'TTFT of each request, by the moment it was sent; line: median of the slot; ✕: failed',
    height: 170,
    y: (from, to) => latencyScale(values, from, to),
    format: asTime,
    draw: (x, y, area) => [
      ...dots.map((request) =>
        element('circle', {
          cx: x.at(sentAt(request)),
          cy: y.at(request.ttftSeconds ?? 0),
          r: 2.4,
          class: 'dot',
        }),
      ),
      polyline(
        summary.timeline.map((slot) =>
          slot.ttftP50Seconds === null
            ? null
            : [(x.at(slot.fromSeconds) + x.at(slot.toSeconds)) / 2, y.at(slot.ttftP50Seconds)],
        ),
        'line one strong',
      ),
      ...failed.map((request) => words(x.at(sentAt(request)), area.top + 12, '✕', { anchor: 'middle', kind: 'flag' })),
    ],
  };
}

const pathOf = (
  polls: readonly EngineRecord[],
  read: (poll: EngineRecord) => number | null,
  x: Scale,
  y: Scale,
): readonly (readonly [number, number] | null)[] =>
  polls.map((poll) => {
    const value = poll.up ? read(poll) : null;
    return value === null ? null : [x.at(poll.atSeconds), y.at(value)];
  });

const cachePanel = (polls: readonly EngineRecord[]): Panel => ({
  title: 'KV cache usage',
  height: 90,
  y: fromZero(1, 2),
  format: asPercent,
  draw: (x, y) => [
    polyline(
      pathOf(polls, (poll) => poll.kvUsageRatio, x, y),
      'line two',
    ),
  ],
});

const queuePanel = (polls: readonly EngineRecord[]): Panel => ({
  title: 'Requests in the engine',
  height: 100,
  y: fromZero(highest(polls.flatMap((poll) => [poll.running, poll.waiting])) * 1.15),
  format: asNumber,
  draw: (x, y, area) => [
    polyline(
      pathOf(polls, (poll) => poll.running, x, y),
      'line one',
    ),
    polyline(
      pathOf(polls, (poll) => poll.waiting, x, y),
      'line three dashed',
    ),
    legend(area.right - 250, area.top - 13, [
      { label: 'running', mark: (at, y0) => line(at - 8, y0, at + 10, y0, 'line one') },
      { label: 'waiting (dashed)', mark: (at, y0) => line(at - 8, y0, at + 10, y0, 'line three dashed') },
    ]),
  ],
});

/** Increases from poll to poll. */
const preemptionsOf = (polls: readonly EngineRecord[]): readonly { readonly at: number; readonly count: number }[] =>
  polls.flatMap((poll, index) => {
    const before = polls[index - 1]?.preemptions ?? null;
    if (before === null || poll.preemptions === null || poll.preemptions <= before) return [];
    return [{ at: poll.atSeconds, count: poll.preemptions - before }];
  });

const preemptionPanel = (polls: readonly EngineRecord[]): Panel => {
  const increases = preemptionsOf(polls);
  return {
    title: 'Preemptions since the poll before',
    height: 70,
    y: fromZero(highest(increases.map((increase) => increase.count)), 2),
    format: asNumber,
    draw: (x, y, area) =>
      increases.length === 0
        ? [
            words((area.left + area.right) / 2, (area.top + area.bottom) / 2 + 4, 'none', {
              anchor: 'middle',
              kind: 'note',
            }),
          ]
        : increases.flatMap(({ at, count }) => [
            line(x.at(at), area.bottom, x.at(at), y.at(count), 'line four strong'),
            marker('diamond', x.at(at), y.at(count), 'mark four', `${count} preemptions`),
          ]),
  };
};

/** Latency above what the engine said at the same moments; panels of what it does not say are left out. */
export function engineChart(
  summary: Summary,
  requests: readonly RequestRecord[],
  polls: readonly EngineRecord[],
): Markup {
  const span = spanOf(summary);
  const inside = polls.filter((poll) => poll.atSeconds >= span.from && poll.atSeconds <= span.to);
  const says = (read: (poll: EngineRecord) => number | null): boolean => inside.some((poll) => read(poll) !== null);
  const panels = [
    latencyPanel(summary, requests),
    ...(says((poll) => poll.kvUsageRatio) ? [cachePanel(inside)] : []),
    ...(says((poll) => poll.running) || says((poll) => poll.waiting) ? [queuePanel(inside)] : []),
    ...(says((poll) => poll.preemptions) ? [preemptionPanel(inside)] : []),
  ];
  return timePanels('Latency over KV usage, queue and preemptions', span, panels);
}
