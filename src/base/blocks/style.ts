import { COLORS } from "./colors.ts";

/** The style sheet: for light and dark, wide and narrow screens, and for print. */
export const STYLE = `
${COLORS}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 62rem;
  background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  overflow-wrap: break-word;
}
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.4rem; margin: 2.75rem 0 .75rem; padding-top: .5rem; border-top: 2px solid var(--line); }
h3 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h4 { font-size: 1rem; margin: 0 0 .35rem; }
p, ul { margin: 0 0 1rem; max-width: 48rem; }
ul { padding-left: 1.25rem; }
li { margin-bottom: .25rem; }
a { color: var(--accent); }
code, pre { font: .875em/1.5 ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", Menlo, monospace; }
code { overflow-wrap: anywhere; }
h4 code { font-size: 1rem; }
pre {
  margin: 0; padding: .75rem 1rem; overflow-x: auto;
  background: var(--card); border: 1px solid var(--line); border-radius: .4rem;
}
figure { margin: 0 0 1rem; }
figcaption { color: var(--quiet); font-size: .875rem; margin-bottom: .25rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; margin: 0 0 1rem; padding: 0; list-style: none; max-width: none; }
.figures li { background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .75rem 1rem; margin: 0; }
.figures b { display: block; font-size: 1.5rem; line-height: 1.2; }
.figures span { color: var(--quiet); font-size: .875rem; }
.chart svg { display: block; width: 100%; height: 9rem; background: var(--card); border: 1px solid var(--line); border-radius: .4rem; }
.chart .alpha { fill: var(--alpha); }
.chart .native { fill: var(--native); }
.axis { display: flex; justify-content: space-between; gap: 1rem; color: var(--quiet); font-size: .875rem; margin: .25rem 0 0; max-width: none; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; font-size: .875rem; margin: 0 0 .35rem; max-width: none; }
.legend svg { display: inline-block; width: .8rem; height: .8rem; vertical-align: -.05rem; border: 0; }
.table { overflow-x: auto; margin: 0 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
caption { text-align: left; color: var(--quiet); font-size: .875rem; padding-bottom: .25rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--quiet); font-size: .875rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
table.long { table-layout: fixed; }
.long th:nth-child(-n+2) { width: 21%; }
.tag {
  display: inline-block; padding: 0 .45rem; border-radius: .3rem; border: 1px solid currentColor;
  font-size: .8125rem; line-height: 1.4; white-space: nowrap;
}
.inside > td { padding: 0 0 .4rem 1rem; }
.inside .table { margin: .25rem 0 0; }
details { margin: 0 0 1rem; }
.inside details { margin: 0; }
summary { color: var(--quiet); cursor: pointer; padding: .25rem 0; font-size: .875rem; }
.frame { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin: 0 0 1.25rem; }
.frame > :last-child, .group > :last-child { margin-bottom: 0; }
.group { margin: 0 0 1.5rem; }
@media (max-width: 40rem) {
  body { padding: 1.25rem .9rem 3rem; }
  .frame { padding: .75rem; }
  table, caption, tbody, tr, td { display: block; }
  thead { display: none; }
  tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  td, td.number { border: 0; padding: .1rem 0; text-align: left; white-space: normal; }
  td[data-name]::before { content: attr(data-name) ": "; color: var(--quiet); font-size: .875rem; }
}
@media print {
  :root { color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  .table { overflow: visible; }
  .page { break-before: page; }
  h2, h3, h4, figcaption, caption, thead { break-after: avoid; }
  figure, tr, .figures, .chart { break-inside: avoid; }
  a { color: inherit; }
  .chart rect, .legend rect { print-color-adjust: exact; }
}
`;
