import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ask, runServer } from '../../support/http-under-test.ts';

describe('paths', () => {
  it.each([
    '/../../etc/passwd',
    '/assets/../../../etc/passwd',
    '/assets/..%2f..%2f..%2fetc%2fpasswd',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets/main.js%00.css',
    '/assets/',
    '/assets',
    '//metrics',
    '/metrics/',
    '/METRICS',
    '/%6detrics%2f..',
    '/probes/..%2f..%2fconfig',
    '/probes/constructor',
    '/probes/__proto__',
    '/-/../config',
    '/.env',
    '/%',
    '/%ff%fe',
  ])('%s leads nowhere', async (path) => {
    await using running = await runServer();
    const { status, body } = await ask(running.port, 'GET', path);
    expect([400, 404]).toContain(status);
    expect(body.length).toBeLessThan(200);
    expect(body).not.toMatch(/root:|targets|dependencies|at .*\.(?:ts|mjs|js):/);
  });

  it('that hold markup are not said back', async () => {
    await using running = await runServer();
    for (const path of ['/%3Cscript%3Ealert(1)%3C/script%3E', '/probes/%3Cimg%20src=x%3E', '/probes?outcome=%3Cb%3E']) {
      const { headers, body } = await ask(running.port, 'GET', path);
      expect(body).not.toMatch(/<|script|img/);
      expect(headers['content-type']).toMatch(/^text\/plain/);
    }
  });

  it('an absolute address in the request line is answered by the exporter itself, and not fetched', async () => {
    await using running = await runServer();
    const { body } = await ask(running.port, 'GET', 'http://other.example/metrics', { accept: 'own-page' });
    expect(body).toBe('accept own-page\n');
  });
});

describe('the page', () => {
  const folder = 'src/http/page';
  const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'));

  it('puts text into elements as text and never as markup', () => {
    expect(scripts.length).toBeGreaterThan(5);
    for (const name of scripts) {
      expect(readFileSync(`${folder}/${name}`, 'utf8'), name).not.toMatch(
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\(\s*['"]on/,
      );
    }
  });

  it('needs nothing that its policy forbids: no inline script or style, nothing from elsewhere', () => {
    const html = readFileSync(`${folder}/index.html`, 'utf8');
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/);
    expect([...html.matchAll(/(?:src|href)="([^"]+)"/g)].filter(([, url]) => /^(?:\w+:)?\/\//.test(url ?? ''))).toEqual(
      [],
    );
  });
});
