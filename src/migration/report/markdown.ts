import { formatCount } from "../../base/index.ts";
import type { Report } from "./model.ts";
import { createBlockWriter, type Block, type Line, type OutlineSpan } from "./outline.ts";
import { outlineReport } from "./outline-report.ts";

const joinLines = (text: string): string => text.replaceAll(/[\r\n\t]+/g, " ");

/** Escapes markup: clients choose some of the texts (CommonMark 0.31, 2.4). */
const escape = (text: string): string => joinLines(text).replaceAll(/[\\`*_{}[\]<>#|~&]/g, String.raw`\$&`);

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

/** An anchor, or a link to one. Names of clients are in it, which they may choose: nothing of markup stays. */
const fragment = (id: string): string =>
  encodeURIComponent(id.toWellFormed()).replaceAll(
    /[!'()*~]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );

function renderSpan(part: OutlineSpan): string {
  if (typeof part === "string") return escape(part);
  if ("code" in part) return code(part.code);
  if ("strong" in part) return `**${escape(part.strong)}**`;
  if ("tag" in part) return `*${escape(part.tag)}*`;
  return `[${escape(part.link)}](#${fragment(part.to)})`;
}

const renderLine = (line: Line): string => line.map(renderSpan).join("");

/** A bar ends the cell of a table, even in code. */
const renderCell = (line: Line): string =>
  line
    .map((part) =>
      typeof part === "object" && "code" in part
        ? renderSpan(part).replaceAll("|", String.raw`\|`)
        : renderSpan(part),
    )
    .join("");

/** Rows that belong to another one are below it, and indented. */
function renderTable({ columns, rows, opened = [] }: Block & { kind: "table" }): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    row(columns.map(({ name }) => escape(name))),
    row(columns.map(({ number }) => (number ? "--:" : "---"))),
    ...rows.flatMap((cells, place) => [
      row(cells.map(renderCell)),
      ...(opened[place]?.rows ?? []).map(([first = [], ...others]) =>
        row([`&emsp;${renderCell(first)}`, ...others.map(renderCell)]),
      ),
    ]),
  ].join("\n");
}

function renderDays({ days, names: { client } }: Block & { kind: "days" }): string {
  return renderTable({
    kind: "table",
    caption: "",
    columns: [
      { name: "Day" },
      { name: `In ${client}`, number: true },
      { name: "Native", number: true },
      { name: `Clients in ${client}`, number: true },
      { name: "Errors", number: true },
    ],
    rows: days.map(({ day, alpha, native, alphaClients, errors }) =>
      [day, ...[alpha, native, alphaClients, errors].map(formatCount)].map((text) => [text]),
    ),
  });
}

const anchor = (id: string | undefined): string =>
  id === undefined ? "" : `<a id="${fragment(id)}"></a>\n\n`;

function renderCommand({ title, text }: Block & { kind: "command" }): string {
  const mark = fence(text, 3);
  return `${escape(title)}:\n\n${mark}sh\n${text}\n${mark}`;
}

const renderBlock = createBlockWriter({
  heading: ({ id, level, line }) => `${anchor(id)}${"#".repeat(level)} ${renderLine(line)}`,
  text: ({ line }) => renderLine(line),
  figures: ({ figures }) =>
    figures.map(({ value, text }) => `- **${escape(value)}** ${escape(text)}`).join("\n"),
  days: renderDays,
  table: renderTable,
  list: ({ lines }) => lines.map((line) => `- ${renderLine(line)}`).join("\n"),
  command: renderCommand,
  folded: ({ title }) => escape(title),
  section: ({ blocks }): string => blocks.map(renderBlock).join("\n\n"),
});

/** Renders the report as GitHub Flavored Markdown. */
export function reportMarkdown(report: Report): string {
  return `${outlineReport(report).map(renderBlock).join("\n\n")}\n`;
}
