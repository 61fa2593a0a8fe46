/** The style of a report: light and dark by the reader's own setting, light on paper. No fonts, no images from outside. */
export const REPORT_STYLE = `
:root{color-scheme:light dark;--page:#fff;--soft:#f4f6f8;--ink:#1b2430;--faint:#5b6774;--rule:#d5dbe2;--grid:#e6eaee;
--one:#1f66c1;--two:#0b7a6b;--three:#b4530a;--four:#9d2463;--good:#176b3a;--warn:#8a5a00;--bad:#b3261e;--bar:#7ea6d8;--low:#e0a08f;--outside:#c3ccd6}
@media(prefers-color-scheme:dark){:root{--page:#12171d;--soft:#1b222a;--ink:#e4e9ef;--faint:#9aa7b5;--rule:#35404c;--grid:#242c35;
--one:#74aef5;--two:#4fc9b4;--three:#f0a15e;--four:#ec86b8;--good:#6fd197;--warn:#e6b653;--bad:#ff8a80;--bar:#41689a;--low:#8c4a3c;--outside:#3b4653}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1120px;margin:0 auto;padding:32px 24px 64px}
h1{font-size:27px;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere}
.subtitle{color:var(--faint);margin:0 0 24px;overflow-wrap:anywhere}
h2{font-size:20px;margin:40px 0 10px;padding-top:14px;border-top:1px solid var(--rule)}
h3{font-size:16px;margin:26px 0 8px}
p{margin:8px 0;max-width:75ch;overflow-wrap:anywhere}
li{max-width:75ch;margin:3px 0;overflow-wrap:anywhere}
.notice{border:1px solid var(--rule);border-left:5px solid var(--faint);background:var(--soft);padding:10px 16px;margin:14px 0;border-radius:3px}
.notice strong{display:block}.notice p{margin:2px 0}
.notice.good{border-left-color:var(--good)}.notice.warn{border-left-color:var(--warn)}.notice.bad{border-left-color:var(--bad)}
.notice.good strong,.good{color:var(--good)}.notice.warn strong,.warn{color:var(--warn)}.notice.bad strong,.bad{color:var(--bad)}
.notice p{color:var(--ink)}
td.good,td.warn,td.bad{font-weight:600}
.scroll{overflow-x:auto;margin:12px 0}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--faint);padding:0 0 6px}
th,td{padding:5px 8px;border-bottom:1px solid var(--grid);text-align:left;vertical-align:top}
th{border-bottom:1px solid var(--rule);font-weight:600;color:var(--faint);font-size:13px;vertical-align:bottom}
th.right,td.right{text-align:right;white-space:nowrap}
dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 20px;margin:12px 0}
dt{color:var(--faint)}dd{margin:0;overflow-wrap:anywhere}
figure{margin:16px 0 22px}figcaption{margin:0 0 8px}figcaption b{display:block}figcaption span{color:var(--faint)}
svg{display:block;width:100%;height:auto;overflow:visible}
svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--faint)}
svg .title{font-size:13px;font-weight:600;fill:var(--ink)}svg .legend{fill:var(--ink)}
svg .flag{fill:var(--bad);font-weight:600}svg .kneeText{fill:var(--ink);font-weight:700}
svg .halo{paint-order:stroke;stroke:var(--page);stroke-width:3px;stroke-linejoin:round}
.grid{stroke:var(--grid)}.axis{stroke:var(--faint)}.edge{stroke:var(--faint);stroke-dasharray:2 3}
.trimmed{fill:var(--soft)}
.bar{fill:var(--bar)}.bar.outside{fill:var(--outside)}.bar.flagged{fill:var(--low);stroke:var(--bad);stroke-width:1.5;stroke-dasharray:4 2}
.mean{stroke:var(--ink);stroke-width:1.5}.limit{stroke:var(--bad);stroke-dasharray:6 4}
.dot{fill:var(--one);fill-opacity:.45}
.line,.whisker{fill:none;stroke-width:2}.line.strong{stroke-width:2.5}.line.dashed{stroke-dasharray:6 4}.whisker{stroke-width:1.5}
.line.one,.whisker.one{stroke:var(--one)}.line.two,.whisker.two{stroke:var(--two)}.line.three,.whisker.three{stroke:var(--three)}.line.four,.whisker.four{stroke:var(--four)}
.mark{stroke:var(--page);stroke-width:1}.mark.one{fill:var(--one)}.mark.two{fill:var(--two)}.mark.three{fill:var(--three)}.mark.four{fill:var(--four)}
.mark.hollow{fill:var(--page);stroke-width:2.2}.mark.hollow.one{stroke:var(--one)}.mark.hollow.two{stroke:var(--two)}.mark.hollow.three{stroke:var(--three)}.mark.hollow.four{stroke:var(--four)}
.knee{fill:none;stroke:var(--ink);stroke-width:2.5}
figure .scroll{margin:0;overflow:visible}
@media screen and (max-width:700px){figure .scroll svg{width:720px}figure .scroll{overflow:auto hidden}}
footer{margin-top:48px;padding-top:12px;border-top:1px solid var(--rule);color:var(--faint);font-size:13px}
@page{margin:14mm}
@media print{:root{color-scheme:light;--page:#fff;--soft:#f4f6f8;--ink:#000;--faint:#444;--rule:#999;--grid:#ddd;
--one:#1f66c1;--two:#0b7a6b;--three:#b4530a;--four:#9d2463;--good:#176b3a;--warn:#8a5a00;--bad:#b3261e;--bar:#7ea6d8;--low:#e0a08f;--outside:#c3ccd6}
main{max-width:none;padding:0}body{font-size:11pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}
table{font-size:8.5pt}th{font-size:8pt}th,td{padding:3px 5px}th.right,td.right{white-space:normal}
figure,table,.notice,dl{break-inside:avoid}h2,h3{break-after:avoid}.scroll{overflow:visible}}
`.trim();
