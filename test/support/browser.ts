import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Why there is no browser to test with; null when there is one. */
export const noBrowser: string | null = existsSync(CHROMIUM)
  ? null
  : `there is no browser at ${CHROMIUM}; set CHROMIUM to one`;

export interface Browser {
  readonly context: BrowserContext;
  close(): Promise<void>;
}

/** A browser with an empty profile of its own, which talks to nobody by itself. */
export async function openBrowser(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    headless: true,
    args: ARGUMENTS,
  });
  return {
    context,
    async close() {
      await context.close();
      // A child of the browser may write its last file while the folder is being removed.
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}
