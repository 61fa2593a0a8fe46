import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import type { TargetConfig } from '../../../src/config/types.ts';
import { type UnixTime, unixTime } from '../../../src/units.ts';
import { type Browser, noBrowser, openBrowser } from '../../support/browser.ts';
import { runServer } from '../../support/http-under-test.ts';
import { createPageScenario, type PageScenario } from '../../support/page-scenario.ts';
import { sampleTarget } from '../../support/sample-config.ts';
import { failedProbe, finished, sampleDiagnosis } from '../../support/sample-probe.ts';

if (noBrowser !== null) console.warn(`SKIPPED: the live page is not tested, because ${noBrowser}`);

const AUDIT = readFileSync(new URL('../../support/page-audit.js', import.meta.url), 'utf8');
const OVERLOAD = 150;
const UNDERLOAD = 450;

interface Opened extends AsyncDisposable {
  readonly page: Page;
  readonly scenario: PageScenario;
  readonly url: string;
  readonly now: () => UnixTime;
  /** What the browser complained of. */
  readonly complaints: readonly string[];
  readonly requests: readonly string[];
}

interface Wish {
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
  /** Second of the ten-minute wave at which the page is opened. */
  readonly moment?: number;
  readonly targets?: readonly TargetConfig[];
  /** Whether the engine has metrics. */
  readonly engine?: boolean;
}

describe.skipIf(noBrowser !== null)('the live page in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  }, 60_000);
  afterAll(() => browser?.close());

  async function open(wish: Wish = {}): Promise<Opened> {
    const real = systemClock();
    const shift = ((wish.moment ?? OVERLOAD) - (real.unix() % 600) + 600) % 600;
    const clock = { ...real, unix: () => unixTime(real.unix() + shift) };
    const scenario = createPageScenario(clock.unix);
    const { recent, history, views } = scenario;
    const targets = wish.targets ?? [sampleTarget()];
    const running = await runServer({
      clock,
      recent,
      history,
      views: wish.engine === false ? () => [] : views,
      targets: () => targets,
    });
    const page = await browser.context.newPage();
    const complaints: string[] = [];
    const requests: string[] = [];
    page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
    page.on('request', (request) => requests.push(request.url()));
    await page.emulateMedia({ colorScheme: wish.scheme ?? 'light' });
    await page.setViewportSize({ width: wish.width ?? 1280, height: 900 });
    await page.goto(running.url);
    await page.waitForSelector('#state:not(:empty)');
    const close = async (): Promise<void> => {
      await page.close();
      await running.server.close();
    };
    return { page, scenario, now: clock.unix, url: running.url, complaints, requests, [Symbol.asyncDispose]: close };
  }

  // The page's policy forbids evaluating strings inside of it, so waiting is done from here.
  const text = (page: Page, selector: string): Promise<string | null> => page.textContent(selector);
  const audit = async (page: Page) =>
    (await page.evaluate(AUDIT)) as { readonly faults: string[]; readonly texts: number };
  const labels = (page: Page, selector: string): Promise<unknown> =>
    page.evaluate(`[...document.querySelectorAll('${selector}')].map((node) => node.getAttribute('aria-label'))`);

  it.each([
    { scheme: 'light', width: 1280, moment: OVERLOAD },
    { scheme: 'dark', width: 1280, moment: UNDERLOAD },
    { scheme: 'light', width: 420, moment: UNDERLOAD },
    { scheme: 'dark', width: 420, moment: OVERLOAD },
  ] as const)('loads without a complaint and can be read: $scheme, $width px', async (wish) => {
    await using opened = await open(wish);
    const found = await audit(opened.page);
    expect(found.faults).toEqual([]);
    expect(found.texts).toBeGreaterThan(80);
    expect(opened.complaints).toEqual([]);
    expect(opened.requests.filter((url) => !url.startsWith(opened.url))).toEqual([]);
    const ground = await opened.page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe(wish.scheme === 'light' ? 'rgb(246, 246, 244)' : 'rgb(15, 17, 19)');
  });

  describe('of an engine in overload', () => {
    let opened: Opened;
    let page: Page;
    beforeAll(async () => {
      opened = await open({ moment: OVERLOAD });
      page = opened.page;
    }, 30_000);
    afterAll(() => opened?.[Symbol.asyncDispose]());

    it('says at a glance how the target is, since when, and why the last probe was slow', async () => {
      expect(await text(page, '#target-name')).toBe('engine');
      expect(await text(page, '#state')).toMatch(/^[▲✕] (Slow|Failing)$/);
      expect(await text(page, '#since')).toMatch(/^since \d\d:\d\d:\d\d, \d+ probes?$/);
      expect(await text(page, '#engine-pill')).toBe('█ overload');
      expect(await text(page, '.bad-cause')).toBe('Preemption');
      expect(await text(page, '#bad-body')).toContain('KV cache, highest');
      expect(await page.title()).toMatch(/^[▲✕] engine/);
    });

    it('describes each chart in words', async () => {
      expect(await labels(page, '.chart-svg')).toEqual([
        expect.stringMatching(/^Time to first token\. Latest .*, highest .*\. Objective 2 s\. \d+ failed probes?\.$/),
        expect.stringMatching(/^Time per output token\. /),
        expect.stringMatching(/^KV cache in use\. Now 100 %/),
        expect.stringMatching(/^Requests\. 32 running, \d+ waiting\.$/),
        expect.stringMatching(/^Load zone: now overload\.$/),
        expect.stringMatching(/^Preemptions per 10 s\. \d+ in this range\.$/),
      ]);
    });

    it('works with the keyboard alone: along the strip, into a timeline and back', async () => {
      const active = () =>
        page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent');
      await page.keyboard.press('Tab');
      expect(await active()).toBe('Skip to the state of the target');
      const onStrip = () => page.evaluate('document.activeElement.classList.contains("cell")');
      for (let index = 0; index < 12 && !(await onStrip()); index += 1) await page.keyboard.press('Tab');
      const last = await active();
      expect(last).toMatch(/^\d\d:\d\d:\d\d, cold/);
      await page.keyboard.press('ArrowLeft');
      const earlier = await active();
      expect(earlier).not.toBe(last);
      await page.keyboard.press('Enter');
      await page.waitForSelector('dialog[open] .verdict');
      expect(await text(page, 'dialog .terms')).toContain('TTFT');
      expect((await audit(page)).faults).toEqual([]);
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog:not([open])', { state: 'attached' });
      expect(await active()).toBe(earlier);
      await page.keyboard.press('End');
      expect(await active()).toBe(last);
    });

    it('opens the timeline of the last slow probe with its moments and its cause', async () => {
      await page.click('#bad-body button');
      await page.waitForSelector('dialog[open] .timeline-svg');
      expect(await page.getAttribute('.timeline-svg', 'aria-label')).toMatch(/headers at .*(first token|failure) at/);
      expect(await text(page, '#timeline-body')).toContain('Cause: Preemption');
      expect(await page.getAttribute('#timeline-body a', 'href')).toMatch(/^probes\/[0-9a-f]{32}$/);
      await page.click('#timeline-close');
    });

    it('reads values at the pointer, and at the same line for the keyboard', async () => {
      const reading = () => page.locator('.reading').count();
      const box = await page.locator('#charts').boundingBox();
      await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + 80);
      await expect.poll(reading).toBe(6);
      await page.mouse.move(5, 5);
      await expect.poll(reading).toBe(0);
      await page.focus('#reading');
      await page.keyboard.press('ArrowLeft');
      await expect.poll(reading).toBe(6);
      await page.keyboard.press('End');
      await expect.poll(reading).toBe(0);
    });

    it('shows five minutes instead of fifteen on request', async () => {
      const all = await page.locator('.chart .marker').count();
      await page.click('[data-range="300"]');
      expect(await page.getAttribute('[data-range="300"]', 'aria-pressed')).toBe('true');
      await expect.poll(() => page.locator('.chart .marker').count()).toBeLessThan(all / 2);
    });

    it('asks nothing while it is hidden, and at once when it is seen again', async () => {
      const hide = (hidden: boolean) =>
        page.evaluate(
          `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'));`,
        );
      const asked = () => opened.requests.filter((url) => url.includes('/api/live')).length;
      await hide(true);
      await page.waitForTimeout(300);
      const before = asked();
      await page.waitForTimeout(1900);
      expect(asked()).toBe(before);
      await hide(false);
      await expect.poll(asked).toBeGreaterThan(before);
    });

    it('says when its data is old, and is live again by itself', async () => {
      const freshness = () => text(page, '#freshness-text');
      await expect.poll(freshness).toBe('live');
      await page.route('**/api/live*', (route) => route.abort());
      await expect.poll(freshness, { timeout: 14_000 }).toMatch(/^data is \d+ s old, no answer$/);
      await page.unroute('**/api/live*');
      await expect.poll(freshness, { timeout: 6000 }).toBe('live');
    }, 30_000);
  });

  it('can be read without colour, and shows a probe that ends now without being loaded again', async () => {
    await using opened = await open({ moment: UNDERLOAD });
    const { page, scenario } = opened;
    expect(await text(page, '#state')).toBe('● Good');
    expect(await page.locator('.profile .pill').allTextContents()).toEqual(['● Good', '● Good']);
    expect(await page.locator('.cell[data-state="failing"]').first().textContent()).toBe('✕');
    const cells = await labels(page, '.cell');
    expect(cells).toContainEqual(expect.stringMatching(/^\d\d:\d\d:\d\d, cold, good, TTFT/));
    expect(cells).toContainEqual(expect.stringMatching(/slow, TTFT .* cause/));

    const lost = failedProbe('connection_lost', { id: 'f'.repeat(32), startedAt: opened.now() });
    scenario.recent.add(finished(lost, { diagnosis: sampleDiagnosis('engine_restart') }));
    await expect.poll(() => text(page, '#state'), { timeout: 6000 }).toBe('✕ Failing');
    expect(await text(page, '.bad-cause')).toBe('The engine restarted');
    expect(await page.locator('#recent-body tbody tr').first().textContent()).toContain('connection lost');
    expect(opened.complaints).toEqual([]);

    scenario.recent.keepOnly(new Set());
    await page.locator('.cell').last().click();
    await expect.poll(() => text(page, '#timeline-body')).toContain('not kept any more');
  }, 30_000);

  it('takes names as text: markup in a name or a message is shown, never run', async () => {
    const evil = '<img src=x onerror="document.title=1"><script>1</script>';
    await using opened = await open({ targets: [sampleTarget({ name: evil, model: evil })] });
    const { page, scenario } = opened;
    const failure = failedProbe('stream_error', { id: 'e'.repeat(32), target: evil, startedAt: opened.now() });
    const said = { ...failure, failure: { ...failure.failure, message: evil } };
    scenario.recent.add(finished(said, { diagnosis: sampleDiagnosis('unknown') }));
    await page.waitForSelector('#recent-body .link');
    await page.locator('#recent-body .link').first().click();
    await page.waitForSelector('dialog[open] .verdict');
    expect(await text(page, '#timeline-body')).toContain(evil);
    expect(await text(page, '#target-name')).toBe(evil);
    expect(await page.locator('main img, dialog img, main script').count()).toBe(0);
    expect(opened.complaints).toEqual([]);
  }, 30_000);

  it('shows every target, goes to the one that is chosen, and does without an engine', async () => {
    await using opened = await open({
      targets: [sampleTarget(), sampleTarget({ name: 'second & third' })],
      engine: false,
    });
    const { page } = opened;
    expect(await page.locator('.target').count()).toBe(2);
    expect(await page.locator('#engine').isVisible()).toBe(false);
    expect(await page.locator('.chart-svg:visible').count()).toBe(2);
    await page.locator('.target').nth(1).click();
    await expect.poll(() => text(page, '#target-name')).toBe('second & third');
    expect(await text(page, '#state')).toBe('○ No probe yet');
    expect(await page.evaluate('decodeURIComponent(location.hash)')).toBe('#second & third');
    expect(opened.complaints).toEqual([]);
  }, 30_000);
});
