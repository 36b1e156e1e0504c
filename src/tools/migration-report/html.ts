import { createHash } from "node:crypto";
import { STYLE } from "./html-style.ts";
import type { Report } from "./model.ts";
import { blockWriter, type Block, type Column, type Line, type OutlineSpan } from "./outline.ts";
import { outlineReport } from "./outline-report.ts";
import { count } from "./words.ts";

/** What a browser may load for a report: its own style sheet, and nothing else. Names in it are chosen by clients. */
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

/** How much attention a word asks for. */
const TONES: Readonly<Record<string, string>> = {
  ready: "good",
  silent: "good",
  "not needed": "good",
  moving: "warn",
  "other value": "warn",
  "id only": "warn",
  computed: "warn",
  "another call": "warn",
  "not begun": "bad",
  "was lossy": "bad",
  gone: "bad",
  "no counterpart": "bad",
};

function piece(part: OutlineSpan): string {
  if (typeof part === "string") return escape(part);
  if ("code" in part) return `<code>${escape(part.code)}</code>`;
  if ("strong" in part) return `<strong>${escape(part.strong)}</strong>`;
  if ("tag" in part) return `<span class="tag ${TONES[part.tag] ?? ""}">${escape(part.tag)}</span>`;
  return `<a href="#${escape(part.to)}">${escape(part.link)}</a>`;
}

const written = (line: Line): string => line.map(piece).join("");

const classOf = ({ number }: Column): string => (number ? ' class="number"' : "");

/** On a narrow screen each cell stands below the other, under the name of its column. */
function table({ caption, of, columns, rows }: Block & { kind: "table" }): string {
  const heads = columns.map((column) =>
    column.name === "" ? "<td></td>" : `<th scope="col"${classOf(column)}>${escape(column.name)}</th>`,
  );
  const row = (cells: readonly Line[]): string => {
    const shown = cells.map((line, index) => {
      const column = columns[index] ?? { name: "" };
      const name = index === 0 || column.name === "" ? "" : ` data-name="${escape(column.name)}"`;
      return `<td${classOf(column)}${name}>${written(line)}</td>`;
    });
    return `<tr>${shown.join("")}</tr>`;
  };
  return (
    `<div class="table"><table class="${of ?? "plain"}"><caption>${escape(caption)}</caption>` +
    `<thead><tr>${heads.join("")}</tr></thead><tbody>\n${rows.map(row).join("\n")}\n</tbody></table></div>`
  );
}

const HEIGHT = 100;
const BAR = 10;
const GAP = 2;

const rect = (kind: string, [x, y, width, height]: readonly number[]): string =>
  `<rect class="${kind}" x="${x}" y="${y?.toFixed(2)}" width="${width}" height="${height?.toFixed(2)}"/>`;

/** A bar for each day: native requests, and those in alpha upon them. */
function days(all: (Block & { kind: "days" })["days"]): string {
  const most = Math.max(1, ...all.map(({ alpha, native }) => alpha + native));
  const height = (requests: number): number => (requests / most) * HEIGHT * 0.94;
  const bars = all.map(({ day, alpha, native, alphaClients }, index) => {
    const x = index * (BAR + GAP) + GAP / 2;
    const [low, high] = [height(native), height(alpha)];
    const told = `${day}: ${count(alpha)} in alpha from ${alphaClients} clients, ${count(native)} native`;
    return (
      `<g><title>${escape(told)}</title>${rect("native", [x, HEIGHT - low, BAR, low])}` +
      `${rect("alpha", [x, HEIGHT - low - high, BAR, high])}</g>`
    );
  });
  const width = Math.max(12, all.length) * (BAR + GAP);
  const [first, last] = [all[0], all.at(-1)];
  const told = `Requests by day. First ${first?.day}: ${count(first?.alpha ?? 0)} in alpha, ${count(first?.native ?? 0)} native. Last ${last?.day}: ${count(last?.alpha ?? 0)} in alpha, ${count(last?.native ?? 0)} native.`;
  const mark = (kind: string): string =>
    `<svg viewBox="0 0 10 10" aria-hidden="true">${rect(kind, [0, 0, 10, 10])}</svg>`;
  return (
    `<div class="days"><p class="legend"><span>${mark("alpha")} in alpha</span><span>${mark("native")} native (v4)</span>` +
    `<span>the highest day: ${count(most)} requests</span></p>` +
    `<svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${escape(told)}">${bars.join("")}</svg>` +
    `<p class="axis"><span>${first?.day ?? ""}</span><span>${first === last ? "" : (last?.day ?? "")}</span></p></div>`
  );
}

const anchor = (id: string | undefined): string => (id === undefined ? "" : ` id="${escape(id)}"`);

const block = blockWriter({
  heading: ({ level, line, id }) => `<h${level}${anchor(id)}>${written(line)}</h${level}>`,
  text: ({ line }) => `<p>${written(line)}</p>`,
  figures: ({ figures }) => {
    const items = figures.map(
      ({ value, text }) => `<li><b>${escape(value)}</b><span>${escape(text)}</span></li>`,
    );
    return `<ul class="figures">${items.join("")}</ul>`;
  },
  days: (given) => days(given.days),
  table,
  list: ({ lines }) => `<ul>${lines.map((line) => `<li>${written(line)}</li>`).join("")}</ul>`,
  command: ({ title, text }) =>
    `<figure><figcaption>${escape(title)}</figcaption><pre tabindex="0"><code>${escape(text)}</code></pre></figure>`,
  section: ({ of, blocks }): string => `<section class="${of}">\n${blocks.map(block).join("\n")}\n</section>`,
});

/** The report as one HTML file: no script, nothing to load, printable. */
export function reportHtml(report: Report): string {
  const blocks = outlineReport(report).map(block);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escape(REPORT_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Migration report: from alpha to v4</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${blocks.join("\n")}
</main>
</body>
</html>
`;
}
