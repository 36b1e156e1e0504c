/** Blocks as HTML. */
import { createHash } from "node:crypto";
import {
  type Block,
  type Chart,
  type Column,
  createBlockWriter,
  type Item,
  itemOf,
  type Line,
  type OpenedRows,
  type Span,
  spansOf,
  type Table,
} from "./block.ts";
import { STYLE } from "./style.ts";

/**
 * The Content-Security-Policy of a document. It allows nothing except the style sheet, because clients choose some of
 * the texts.
 */
export const DOCUMENT_POLICY =
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

function renderSpan(span: Span): string {
  if (typeof span === "string") return escape(span);
  if ("code" in span) return `<code>${escape(span.code)}</code>`;
  if ("strong" in span) return `<strong>${escape(span.strong)}</strong>`;
  if ("tag" in span) return `<span class="tag ${span.tone ?? ""}">${escape(span.tag)}</span>`;
  return `<a href="#${escape(span.to)}">${escape(span.link)}</a>`;
}

const renderLine = (line: Line): string => spansOf(line).map(renderSpan).join("");

const columnClass = ({ number }: Column): string => (number ? ' class="number"' : "");

/** On a narrow screen the cells of a row are below each other, each with the name of its column. */
function renderTable({ caption, isLastLong, columns, rows, opened = [] }: Table): string {
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
    `<div class="table"><table class="${isLastLong ? "long" : "plain"}"><caption>${escape(caption)}</caption>` +
    `<thead><tr>${heads.join("")}</tr></thead><tbody>\n${rows.map((cells, place) => row(cells) + inside(opened[place])).join("\n")}\n</tbody></table></div>`
  );
}

const HEIGHT = 100;
const BAR = 10;
const GAP = 2;

const rect = (kind: string, [x, y, width, height]: readonly number[]): string =>
  `<rect class="${kind}" x="${x}" y="${y?.toFixed(2)}" width="${width}" height="${height?.toFixed(2)}"/>`;

const mark = (color: string): string =>
  `<svg viewBox="0 0 10 10" aria-hidden="true">${rect(color, [0, 0, 10, 10])}</svg>`;

/** A bar for each label, with the parts stacked. */
function renderChart({ description, series, note, bars }: Chart): string {
  const maximum = Math.max(1, ...bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0)));
  const height = (value: number): number => (value / maximum) * HEIGHT * 0.94;
  const drawn = bars.map(({ title, values }, index) => {
    let top = HEIGHT;
    const parts = series.map(({ color }, part) => {
      const own = height(values[part] ?? 0);
      top -= own;
      return rect(color, [index * (BAR + GAP) + GAP / 2, top, BAR, own]);
    });
    return `<g><title>${escape(title)}</title>${parts.join("")}</g>`;
  });
  const width = Math.max(12, bars.length) * (BAR + GAP);
  const legend = [
    ...series.toReversed().map(({ name, color }) => `<span>${mark(color)} ${escape(name)}</span>`),
    `<span>${escape(note)}</span>`,
  ];
  const [first, last] = [bars[0], bars.at(-1)];
  return (
    `<div class="chart"><p class="legend">${legend.join("")}</p>` +
    `<svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${escape(description)}">${drawn.join("")}</svg>` +
    `<p class="axis"><span>${escape(first?.label ?? "")}</span><span>${escape(first === last ? "" : (last?.label ?? ""))}</span></p></div>`
  );
}

const renderItems = (items: readonly Item[]): string =>
  `<ul>${items
    .map(itemOf)
    .map(
      ({ line, items: below }) => `<li>${renderLine(line)}${below.length > 0 ? renderItems(below) : ""}</li>`,
    )
    .join("")}</ul>`;

const joinBlocks = (blocks: readonly Block[]): string => blocks.map(renderBlock).join("\n");

const anchor = (id: string | undefined): string => (id === undefined ? "" : ` id="${escape(id)}"`);

const renderBlock: (block: Block) => string = createBlockWriter({
  heading: ({ level, line, id }) => `<h${level}${anchor(id)}>${renderLine(line)}</h${level}>`,
  text: ({ line }) => `<p>${renderLine(line)}</p>`,
  figures: ({ figures }) => {
    const items = figures.map(
      ({ value, text }) => `<li><b>${escape(value)}</b><span>${escape(text)}</span></li>`,
    );
    return `<ul class="figures">${items.join("")}</ul>`;
  },
  values: ({ values }) =>
    `<dl>${values.map(([name, value]) => `<dt>${escape(name)}</dt><dd>${renderLine(value)}</dd>`).join("")}</dl>`,
  chart: renderChart,
  table: renderTable,
  list: ({ items }) => renderItems(items),
  code: ({ title, text }) =>
    `<figure>${title === "" ? "" : `<figcaption>${escape(title)}</figcaption>`}<pre tabindex="0"><code>${escape(text)}</code></pre></figure>`,
  folded: ({ title, blocks }) =>
    `<details><summary>${escape(title)}</summary>\n${joinBlocks(blocks)}\n</details>`,
  section: ({ as, blocks }) => `<section class="${as}">\n${joinBlocks(blocks)}\n</section>`,
});

/** Renders blocks as one printable HTML file, without scripts and external files. */
export function renderDocument(title: string, blocks: readonly Block[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escape(DOCUMENT_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${joinBlocks(blocks)}
</main>
</body>
</html>
`;
}
