import { createHash } from "node:crypto";
import { STATE_LABELS } from "../../audit/index.ts";
import { formatCount, plural } from "../../base/index.ts";
import { COLORS } from "./colors.ts";
import type { Report } from "./model.ts";
import {
  createBlockWriter,
  type Block,
  type Column,
  type Line,
  type OpenedRows,
  type OutlineSpan,
} from "./outline.ts";
import { outlineReport } from "./outline-report.ts";

/** The style sheet: for light and dark, wide and narrow screens, and for print. */
const STYLE = `
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
.days svg { display: block; width: 100%; height: 9rem; background: var(--card); border: 1px solid var(--line); border-radius: .4rem; }
.days .alpha { fill: var(--alpha); }
.days .native { fill: var(--native); }
.axis { display: flex; justify-content: space-between; gap: 1rem; color: var(--quiet); font-size: .875rem; margin: .25rem 0 0; max-width: none; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; font-size: .875rem; margin: 0 0 .35rem; max-width: none; }
.legend svg { display: inline-block; width: .8rem; height: .8rem; vertical-align: -.05rem; border: 0; }
.table { overflow-x: auto; margin: 0 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
caption { text-align: left; color: var(--quiet); font-size: .875rem; padding-bottom: .25rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--quiet); font-size: .875rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
table.fields { table-layout: fixed; }
.fields th:nth-child(-n+2) { width: 21%; }
.tag {
  display: inline-block; padding: 0 .45rem; border-radius: .3rem; border: 1px solid currentColor;
  font-size: .8125rem; line-height: 1.4; white-space: nowrap;
}
.inside > td { padding: 0 0 .4rem 1rem; }
.inside .table { margin: .25rem 0 0; }
details { margin: 0 0 1rem; }
.inside details { margin: 0; }
summary { color: var(--quiet); cursor: pointer; padding: .25rem 0; font-size: .875rem; }
.call { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin: 0 0 1.25rem; }
.call > :last-child, .part > :last-child { margin-bottom: 0; }
.part { margin: 0 0 1.5rem; }
@media (max-width: 40rem) {
  body { padding: 1.25rem .9rem 3rem; }
  .call { padding: .75rem; }
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
  .client { break-before: page; }
  h2, h3, h4, figcaption, caption, thead { break-after: avoid; }
  figure, tr, .figures, .days { break-inside: avoid; }
  a { color: inherit; }
  .days rect, .legend rect { print-color-adjust: exact; }
}
`;

/** The Content-Security-Policy: only the style sheet of the report. Clients choose some of the texts. */
export const REPORT_POLICY =
  `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; ` +
  "base-uri 'none'; form-action 'none'";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);

/** The colors of labels. */
const TONES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(STATE_LABELS).map(({ label, tone }) => [label, tone])),
  "not needed": "good",
  "other value": "warn",
  "id only": "warn",
  computed: "warn",
  "another call": "warn",
  "was lossy": "bad",
  removed: "bad",
  "no counterpart": "bad",
  meaning: "bad",
  detail: "warn",
};

function renderSpan(part: OutlineSpan): string {
  if (typeof part === "string") return escape(part);
  if ("code" in part) return `<code>${escape(part.code)}</code>`;
  if ("strong" in part) return `<strong>${escape(part.strong)}</strong>`;
  if ("tag" in part) return `<span class="tag ${TONES[part.tag] ?? ""}">${escape(part.tag)}</span>`;
  return `<a href="#${escape(part.to)}">${escape(part.link)}</a>`;
}

const renderLine = (line: Line): string => line.map(renderSpan).join("");

const columnClass = ({ number }: Column): string => (number ? ' class="number"' : "");

/** On a narrow screen the cells of a row are below each other, each with the name of its column. */
function renderTable({ caption, of, columns, rows, opened = [] }: Block & { kind: "table" }): string {
  const heads = columns.map((column) =>
    column.name === "" ? "<td></td>" : `<th scope="col"${columnClass(column)}>${escape(column.name)}</th>`,
  );
  const row = (cells: readonly Line[]): string => {
    const rendered = cells.map((line, index) => {
      const column = columns[index] ?? { name: "" };
      const name = index === 0 || column.name === "" ? "" : ` data-name="${escape(column.name)}"`;
      return `<td${columnClass(column)}${name}>${renderLine(line)}</td>`;
    });
    return `<tr>${rendered.join("")}</tr>`;
  };
  const inside = (below: OpenedRows | undefined): string => {
    if (below === undefined) return "";
    const [first = { name: "" }, ...others] = columns;
    const named = { kind: "table", caption: below.title, rows: below.rows } as const;
    const table = renderTable({ ...named, columns: [{ ...first, name: below.of }, ...others] });
    return `<tr class="inside"><td colspan="${columns.length}"><details><summary>${escape(below.title)}</summary>${table}</details></td></tr>`;
  };
  return (
    `<div class="table"><table class="${of ?? "plain"}"><caption>${escape(caption)}</caption>` +
    `<thead><tr>${heads.join("")}</tr></thead><tbody>\n${rows.map((cells, place) => row(cells) + inside(opened[place])).join("\n")}\n</tbody></table></div>`
  );
}

const HEIGHT = 100;
const BAR = 10;
const GAP = 2;

const rect = (kind: string, [x, y, width, height]: readonly number[]): string =>
  `<rect class="${kind}" x="${x}" y="${y?.toFixed(2)}" width="${width}" height="${height?.toFixed(2)}"/>`;

/** A bar for each day: native requests, and alpha requests above them. */
function renderDays({ days: all, names: { client, upstream } }: Block & { kind: "days" }): string {
  const maximum = Math.max(1, ...all.map(({ alpha, native }) => alpha + native));
  const height = (requests: number): number => (requests / maximum) * HEIGHT * 0.94;
  const bars = all.map(({ day, alpha, native, alphaClients }, index) => {
    const x = index * (BAR + GAP) + GAP / 2;
    const [low, high] = [height(native), height(alpha)];
    const title = `${day}: ${formatCount(alpha)} in ${client} from ${plural(alphaClients, "client")}, ${formatCount(native)} native`;
    return (
      `<g><title>${escape(title)}</title>${rect("native", [x, HEIGHT - low, BAR, low])}` +
      `${rect("alpha", [x, HEIGHT - low - high, BAR, high])}</g>`
    );
  });
  const width = Math.max(12, all.length) * (BAR + GAP);
  const [first, last] = [all[0], all.at(-1)];
  const description = `Requests by day. First ${first?.day}: ${formatCount(first?.alpha ?? 0)} in ${client}, ${formatCount(first?.native ?? 0)} native. Last ${last?.day}: ${formatCount(last?.alpha ?? 0)} in ${client}, ${formatCount(last?.native ?? 0)} native.`;
  const mark = (kind: string): string =>
    `<svg viewBox="0 0 10 10" aria-hidden="true">${rect(kind, [0, 0, 10, 10])}</svg>`;
  return (
    `<div class="days"><p class="legend"><span>${mark("alpha")} in ${escape(client)}</span><span>${mark("native")} native (${escape(upstream)})</span>` +
    `<span>busiest day: ${plural(maximum, "request")}</span></p>` +
    `<svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${escape(description)}">${bars.join("")}</svg>` +
    `<p class="axis"><span>${first?.day ?? ""}</span><span>${first === last ? "" : (last?.day ?? "")}</span></p></div>`
  );
}

const anchor = (id: string | undefined): string => (id === undefined ? "" : ` id="${escape(id)}"`);

const renderBlock = createBlockWriter({
  heading: ({ level, line, id }) => `<h${level}${anchor(id)}>${renderLine(line)}</h${level}>`,
  text: ({ line }) => `<p>${renderLine(line)}</p>`,
  figures: ({ figures }) => {
    const items = figures.map(
      ({ value, text }) => `<li><b>${escape(value)}</b><span>${escape(text)}</span></li>`,
    );
    return `<ul class="figures">${items.join("")}</ul>`;
  },
  days: renderDays,
  table: renderTable,
  list: ({ lines }) => `<ul>${lines.map((line) => `<li>${renderLine(line)}</li>`).join("")}</ul>`,
  command: ({ title, text }) =>
    `<figure><figcaption>${escape(title)}</figcaption><pre tabindex="0"><code>${escape(text)}</code></pre></figure>`,
  folded: ({ title, blocks }): string =>
    `<details><summary>${escape(title)}</summary>\n${blocks.map(renderBlock).join("\n")}\n</details>`,
  section: ({ of, blocks }): string =>
    `<section class="${of}">\n${blocks.map(renderBlock).join("\n")}\n</section>`,
});

/** Renders blocks as one printable HTML file, without scripts and external files. */
export function renderDocument(title: string, blocks: readonly Block[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escape(REPORT_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${blocks.map(renderBlock).join("\n")}
</main>
</body>
</html>
`;
}

/** Renders the report. */
export const reportHtml = (report: Report): string =>
  renderDocument(
    `Migration report: from ${report.names.client} to ${report.names.upstream}`,
    outlineReport(report),
  );
