import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { createHttpServer } from '../../src/http/server.ts';
import { sampleConfig, sampleTarget, sampleProfile } from './sample-config.ts';
import { createPageScenario } from './page-scenario.ts';
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/log.ts';
const real=systemClock(), log=silentLogger(); const shift=Number(process.env.SHIFT??0); const clock={...real,unix:()=>(real.unix()+shift) as never};
const multi=process.argv[2]==='multi';
const names=multi?['engine','llama-70b-eu','llama-70b-us','qwen3-32b','mixtral']:['engine'];
const config=sampleConfig({targets:names.map(name=>sampleTarget({name,model:'meta-llama/Llama-3.1-8B-Instruct'}))});
// the wave is tied to the clock; the shift chooses where in the wave "now" is
const s=createPageScenario(()=>clock.unix());
const server=createHttpServer({web:config.web,version:'0.1.0'},{metrics:{render:async()=>({contentType:'text/plain',body:''})},recent:s.recent,history:s.history,targets:()=>config.targets,views:s.views,isPaused:(t)=>t==='mixtral',configText:()=>'',ready:()=>({ready:true,reason:'ready'}),actions:{},log,clock});
await server.start();
const url=`http://127.0.0.1:${server.address()?.port}/`;
const browser=await chromium.launchPersistentContext(mkdtempSync(join(tmpdir(),'page-')),{executablePath:'/usr/bin/chromium',headless:true,args:['--headless','--no-sandbox','--disable-gpu','--disable-quic','--no-first-run','--disable-background-networking','--disable-component-update','--disable-sync']});
for (const [scheme,width] of [['light',1280],['dark',1280],['light',420],['dark',420]] as const){
  const page=await browser.newPage(); page.on('console',m=>console.log('console',m.type(),m.text())); page.on('pageerror',e=>console.log('ERR',e.message));
  await page.emulateMedia({colorScheme:scheme}); await page.setViewportSize({width,height:900});
  await page.goto(url); await page.waitForTimeout(900);
  await page.screenshot({path:`/tmp/shot-${scheme}-${width}${process.env.TAG??''}.png`,fullPage:true});
  if(width===1280||scheme==='light'){ const b=page.locator('#bad-body button'); if(await b.count()){await b.click(); await page.waitForTimeout(400); await page.screenshot({path:`/tmp/shot-${scheme}-${width}-timeline.png`});} }
  await page.close();
}
await browser.close(); await server.close();
