/** Blocks as GitHub Flavored Markdown. */
import { toVisibleLine } from "../text/visible-text.ts";
import {
  type Block,
  createBlockWriter,
  type Item,
  itemOf,
  type Line,
  type Span,
  spansOf,
  type Table,
} from "./block.ts";

/** A text on one line. Control characters and marks that change the direction of text are escaped. */
const joinLines = (text: string): string => toVisibleLine(text.replaceAll(/[\r\n\t]+/g, " "));

const entity = (sign: string): string => `&#${sign.codePointAt(0)};`;

/**
 * Escapes markup (CommonMark 0.31, 2.4 and 2.5), because clients choose some of the texts. Entities replace
 * characters that a backslash does not escape: HTML, the end of a cell, mentions of people, and addresses that become
 * links (GFM 0.29, 6.9).
 */
const escape = (text: string): string =>
  joinLines(text)
    .replaceAll(/[\\`*_{}[\]#~&]/g, String.raw`\$&`)
    .replaceAll(/[<>|@]|:(?=\/\/)/g, entity)
    .replaceAll(/(?<=www)\./gi, entity);

/** A fence is longer than each sequence of backticks in the text (CommonMark 0.31, 6.1). */
const fence = (text: string, minimum: number): string => {
  const sequences = text.match(/`+/g) ?? [];
  return "`".repeat(Math.max(minimum, ...sequences.map(({ length }) => length + 1)));
};

function code(text: string): string {
  const line = joinLines(text);
  const mark = fence(line, 1);
  const padding = /^[` ]|[` ]$/.test(line) ? " " : "";
  return `${mark}${padding}${line}${padding}${mark}`;
}

/** An anchor, or a link to an anchor. It may contain a name that a client chose, so all markup is removed. */
const fragment = (id: string): string =>
  encodeURIComponent(id.toWellFormed()).replaceAll(
    /[!'()*~]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );

function renderSpan(span: Span): string {
  if (typeof span === "string") return escape(span);
  if ("code" in span) return code(span.code);
  if ("strong" in span) return `**${escape(span.strong)}**`;
  if ("tag" in span) return `*${escape(span.tag)}*`;
  return `[${escape(span.link)}](#${fragment(span.to)})`;
}

/** A text at the start of a line must not start a list (CommonMark 0.31, 5.2). */
const renderLine = (line: Line): string =>
  spansOf(line)
    .map(renderSpan)
    .join("")
    .replace(/^(?:[-+]|\d{1,9}[.)])(?=\s)/, (start) => `${start.slice(0, -1)}\\${start.slice(-1)}`);

/** A bar ends the cell of a table, even in code. */
const renderCell = (line: Line): string =>
  spansOf(line)
    .map((span) =>
      typeof span === "object" && "code" in span
        ? renderSpan(span).replaceAll("|", String.raw`\|`)
        : renderSpan(span),
    )
    .join("");

/** Nested rows are below the row that contains them, and indented. */
function renderTable({ columns, rows, opened = [] }: Table): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    row(columns.map(({ name }) => escape(name))),
    row(columns.map(({ number }) => (number ? "--:" : "---"))),
    ...rows.flatMap((cells, place) => [
      row(cells.map(renderCell)),
      ...(opened[place]?.rows ?? []).map(([first = "", ...others]) =>
        row([`&emsp;${renderCell(first)}`, ...others.map(renderCell)]),
      ),
    ]),
  ].join("\n");
}

const renderItems = (items: readonly Item[], indent = ""): string[] =>
  items
    .map(itemOf)
    .flatMap(({ line, items: below }) => [
      `${indent}- ${renderLine(line)}`,
      ...renderItems(below, `${indent}  `),
    ]);

const anchor = (id: string | undefined): string =>
  id === undefined ? "" : `<a id="${fragment(id)}"></a>\n\n`;

function renderCode({ title, text }: Block & { kind: "code" }): string {
  const mark = fence(text, 3);
  return `${title === "" ? "" : `${escape(title)}:\n\n`}${mark}sh\n${text}\n${mark}`;
}

const joinBlocks = (blocks: readonly Block[]): string => blocks.map(renderBlock).join("\n\n");

const renderBlock: (block: Block) => string = createBlockWriter({
  heading: ({ id, level, line }) => `${anchor(id)}${"#".repeat(level)} ${renderLine(line)}`,
  text: ({ line }) => renderLine(line),
  figures: ({ figures }) =>
    figures.map(({ value, text }) => `- **${escape(value)}** ${escape(text)}`).join("\n"),
  values: ({ values }) =>
    renderItems(values.map(([name, value]) => [`${name}: `, ...spansOf(value)])).join("\n"),
  chart: ({ table }) => renderTable(table),
  table: renderTable,
  list: ({ items }) => renderItems(items).join("\n"),
  code: renderCode,
  folded: ({ title }) => escape(title),
  section: ({ blocks }) => joinBlocks(blocks),
});

/** Renders blocks as Markdown. */
export const renderMarkdown = (blocks: readonly Block[]): string => `${joinBlocks(blocks)}\n`;
