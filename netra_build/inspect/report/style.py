"""The page's style sheet: one column, system fonts, light and dark by the reader's setting."""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--bg:#f5f6f8;--card:#fff;--ink:#1a1f26;--mute:#5a6572;--line:#d9dee5;
--soft:#eef1f5;--link:#0b5cad;--proven:#176b41;--proven-bg:#e3f4ea;--open:#7d5200;--open-bg:#fdf1d7;
--refuted:#b3261e;--refuted-bg:#fde7e5;--valu:#3a78c3;--salu:#4aa3a0;--mfma:#8453b8;--vmem:#d9822b;
--lds:#c74f7d;--smem:#8a9a2b;--waits:#9aa3ad;--fill:#6b86a8}
@media (prefers-color-scheme:dark){:root{--bg:#101419;--card:#181d24;--ink:#e4e8ee;--mute:#9aa6b4;
--line:#2c343f;--soft:#202731;--link:#7db8f5;--proven:#6fd29b;--proven-bg:#12301f;--open:#f0c060;
--open-bg:#33270d;--refuted:#ff8f86;--refuted-bg:#3d1714;--valu:#5b95dc;--salu:#57b5b1;--mfma:#a67bdb;
--vmem:#e39a4f;--lds:#dd749d;--smem:#a9ba4a;--waits:#77828e;--fill:#7592b8}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,
"Segoe UI",Roboto,"DejaVu Sans",sans-serif;overflow-wrap:anywhere}
main{max-width:1120px;margin:0 auto;padding:24px 20px 64px}
h1{font-size:1.9rem;line-height:1.2;margin:0;overflow-wrap:anywhere}
h2{font-size:1.3rem;margin:40px 0 4px}
h3{font-size:1rem;margin:20px 0 6px}
p{margin:6px 0}
a{color:var(--link)}
code,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;
font-size:.86em;overflow-wrap:anywhere}
.mute{color:var(--mute)}
.lead{color:var(--mute);margin:4px 0 12px;max-width:75ch}
.eyebrow{color:var(--mute);font-size:.85rem;letter-spacing:.04em;text-transform:uppercase}
.verdict{display:flex;gap:14px;align-items:flex-start;border-radius:12px;padding:16px 18px;
margin:18px 0 14px;border:1px solid}
.verdict b{display:block;font-size:1.15rem;line-height:1.35}
.verdict .sign{font-size:1.6rem;line-height:1.2}
.proven{color:var(--proven)}.open{color:var(--open)}.refuted{color:var(--refuted)}
.verdict.proven{background:var(--proven-bg)}.verdict.open{background:var(--open-bg)}
.verdict.refuted{background:var(--refuted-bg)}
.verdict p{color:var(--ink)}
.badge{display:inline-block;border-radius:999px;padding:1px 10px;font-size:.85rem;font-weight:600;
white-space:nowrap}
.badge.proven{background:var(--proven-bg)}.badge.open{background:var(--open-bg)}
.badge.refuted{background:var(--refuted-bg)}
.badge.plain{background:var(--soft);color:var(--mute)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px;margin:14px 0}
.tile,.card,details{background:var(--card);border:1px solid var(--line);border-radius:10px}
.tile{padding:10px 14px}
.tile b{display:block;font-size:1.35rem;line-height:1.3}
.tile span{color:var(--mute);font-size:.85rem}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(340px,100%),1fr));gap:12px}
.card{padding:14px 18px}
.card h3{margin:0 0 6px}
.card ul{margin:0;padding:0;list-style:none}
.card li{padding:4px 0 4px 24px;position:relative}
.card li::before{position:absolute;left:0;font-weight:700}
.card.is-proven li::before{content:"\\2713";color:var(--proven)}
.card.is-open li::before{content:"\\25CB";color:var(--open)}
.card.is-open li.refuted-item::before{content:"\\2717";color:var(--refuted)}
nav{display:flex;flex-wrap:wrap;gap:6px 16px;margin:20px 0 0;padding:10px 0;
border-top:1px solid var(--line);border-bottom:1px solid var(--line);font-size:.92rem}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:10px}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{text-align:left;padding:7px 12px;border-bottom:1px solid var(--line);vertical-align:top}
tbody tr:last-child td{border-bottom:0}
th{color:var(--mute);font-weight:600;font-size:.82rem;white-space:nowrap}
td.num,.num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
details{margin:10px 0}
summary{cursor:pointer;padding:11px 16px;font-weight:600;overflow-wrap:anywhere}
summary .badge{margin-left:8px}
summary .short{float:right;font-weight:400;color:var(--mute);font-size:.88rem}
details>.inner{padding:0 16px 16px}
details .scroll{border-radius:6px}
.meters{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px 18px}
table.cards td:first-child{min-width:230px}
.meter span{display:flex;justify-content:space-between;font-size:.86rem;gap:8px}
.meter b{font-variant-numeric:tabular-nums}
svg{display:block}
svg.bar{width:100%;height:10px;border-radius:5px;overflow:hidden;background:var(--soft)}
svg.bar.mix{height:22px;margin:8px 0}
td svg{display:inline-block;margin-right:8px}
.f-fill{fill:var(--fill)}.f-none{fill:var(--soft)}.f-VALU{fill:var(--valu)}.f-SALU{fill:var(--salu)}
.f-MFMA{fill:var(--mfma)}.f-VMEM{fill:var(--vmem)}.f-LDS{fill:var(--lds)}.f-SMEM{fill:var(--smem)}
.f-waits{fill:var(--waits)}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;margin:8px 0 0;padding:0;list-style:none;
font-size:.88rem}
.legend svg{display:inline-block;width:11px;height:11px;vertical-align:-1px;margin-right:5px}
.graph{overflow-x:auto;padding:12px}
.graph svg{min-width:1060px;width:100%;height:auto}
.graph rect{fill:var(--card);stroke:var(--line);stroke-width:1.2}
.graph a:hover rect{stroke:var(--link)}
.graph .s-proven rect{stroke:var(--proven);fill:var(--proven-bg)}
.graph .s-open rect{stroke:var(--open);stroke-dasharray:4 3}
.graph .s-refuted rect{stroke:var(--refuted);fill:var(--refuted-bg)}
.graph path{fill:none;stroke:var(--mute);stroke-width:1.2}
.graph path.golden{stroke-dasharray:5 4}
.graph text{fill:var(--ink);font:12px system-ui,"DejaVu Sans",sans-serif}
.graph .lane{font:600 11.5px ui-monospace,"DejaVu Sans Mono",monospace}
.graph .small{fill:var(--mute);font-size:10.5px}
.graph .dig{fill:var(--mute);font:10.5px ui-monospace,"DejaVu Sans Mono",monospace}
:target{outline:2px solid var(--link);outline-offset:2px}
footer{margin-top:40px;color:var(--mute);font-size:.86rem}
@media (max-width:640px){.scroll table:not(.cards){min-width:640px}
main{padding:16px 12px 40px}h1{font-size:1.45rem}
table.cards thead{display:none}table.cards tr{display:block;padding:8px 12px;
border-bottom:1px solid var(--line)}table.cards td{display:flex;justify-content:space-between;
gap:12px;border:0;padding:3px 0;text-align:right;min-width:0}table.cards td>*{min-width:0}
table.cards td::before{content:attr(data-label);color:var(--mute);font-size:.85rem;text-align:left;
flex:none}table.cards td:first-child::before{content:none}
table.cards td:first-child{font-weight:600;text-align:left}}
@media print{body{background:#fff}}
"""
