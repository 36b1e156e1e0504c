import type { Report } from "./model.ts";
import { blockWriter, type Block, type Line, type OutlineSpan } from "./outline.ts";
import { outlineReport } from "./outline-report.ts";
import { count } from "./words.ts";

const oneLine = (text: string): string => text.replaceAll(/[\r\n\t]+/g, " ");

/** Clients choose some of these texts: nothing in them is mark-up (CommonMark 0.31, 2.4). */
const plain = (text: string): string => oneLine(text).replaceAll(/[\\`*_{}[\]<>#|~&]/g, String.raw`\$&`);

/** A fence must be longer than any row of backticks within (CommonMark 0.31, 6.1). */
const fence = (text: string, least: number): string => {
  const rows = text.match(/`+/g) ?? [];
  return "`".repeat(Math.max(least, ...rows.map(({ length }) => length + 1)));
};

function code(text: string): string {
  const line = oneLine(text);
  const mark = fence(line, 1);
  const blank = /^[` ]|[` ]$/.test(line) ? " " : "";
  return `${mark}${blank}${line}${blank}${mark}`;
}

function piece(part: OutlineSpan): string {
  if (typeof part === "string") return plain(part);
  if ("code" in part) return code(part.code);
  if ("strong" in part) return `**${plain(part.strong)}**`;
  if ("tag" in part) return `*${plain(part.tag)}*`;
  return `[${plain(part.link)}](#${part.to})`;
}

const written = (line: Line): string => line.map(piece).join("");

/** Within a table a bar ends the cell, even in code. */
const cell = (line: Line): string =>
  line
    .map((part) =>
      typeof part === "object" && "code" in part ? piece(part).replaceAll("|", String.raw`\|`) : piece(part),
    )
    .join("");

function table({ columns, rows }: Block & { kind: "table" }): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    row(columns.map(({ name }) => plain(name))),
    row(columns.map(({ number }) => (number ? "--:" : "---"))),
    ...rows.map((cells) => row(cells.map(cell))),
  ].join("\n");
}

function days(all: (Block & { kind: "days" })["days"]): string {
  return table({
    kind: "table",
    caption: "",
    columns: [
      { name: "Day" },
      { name: "In alpha", number: true },
      { name: "Native", number: true },
      { name: "Clients in alpha", number: true },
      { name: "Errors", number: true },
    ],
    rows: all.map(({ day, alpha, native, alphaClients, errors }) =>
      [day, ...[alpha, native, alphaClients, errors].map(count)].map((text) => [text]),
    ),
  });
}

const anchor = (id: string | undefined): string => (id === undefined ? "" : `<a id="${id}"></a>\n\n`);

function command({ title, text }: Block & { kind: "command" }): string {
  const mark = fence(text, 3);
  return `${plain(title)}:\n\n${mark}sh\n${text}\n${mark}`;
}

const block = blockWriter({
  heading: ({ id, level, line }) => `${anchor(id)}${"#".repeat(level)} ${written(line)}`,
  text: ({ line }) => written(line),
  figures: ({ figures }) =>
    figures.map(({ value, text }) => `- **${plain(value)}** ${plain(text)}`).join("\n"),
  days: (given) => days(given.days),
  table,
  list: ({ lines }) => lines.map((line) => `- ${written(line)}`).join("\n"),
  command,
  section: ({ blocks }): string => blocks.map(block).join("\n\n"),
});

/** The report as Markdown with tables (GitHub's). */
export function reportMarkdown(report: Report): string {
  return `${outlineReport(report).map(block).join("\n\n")}\n`;
}
