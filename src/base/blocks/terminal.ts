/** Blocks as plain text for a terminal. */
import { toVisibleLine, toVisibleText } from "../text/visible-text.ts";
import {
  type Block,
  type BlockWriters,
  type Column,
  createBlockWriter,
  type Item,
  itemOf,
  type Line,
  spansOf,
  spanText,
  type Table,
} from "./block.ts";

/** The layout of the output. */
interface TerminalLayout {
  /** Width of the terminal in characters; tables fold their longest cells. Default: unlimited, as for a file. */
  readonly width?: number | undefined;
}

const INDENT = "  ";
/** Spaces between two columns. */
const GAP = 2;
/** Minimum width of a folded column, in characters. */
const LEAST_WIDTH = 12;

const plainText = (line: Line): string => toVisibleLine(spansOf(line).map(spanText).join(""));

const lengthOf = (text: string): number => Array.from(text).length;

/** A text in lines of at most this many characters, folded between words. A longer word has a line of its own. */
function foldText(text: string, width: number): string[] {
  if (lengthOf(text) <= width) return [text];
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    const longer = last === "" ? word : `${last} ${word}`;
    if (lengthOf(longer) <= width || last === "") lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** The widths of the columns. Text columns become narrower, the widest first, until the table fits. */
function fitWidths(
  natural: readonly number[],
  columns: readonly Column[],
  width: number | undefined,
): readonly number[] {
  const widths = [...natural];
  if (width === undefined) return widths;
  let excess = widths.reduce((sum, each) => sum + each + GAP, -GAP) - width;
  while (excess > 0) {
    const folding = widths.map((each, index) => (columns[index]?.number ? 0 : each));
    const widest = Math.max(...folding);
    if (widest <= LEAST_WIDTH) break;
    const index = folding.indexOf(widest);
    const others = Math.max(LEAST_WIDTH, ...folding.filter((_, other) => other !== index));
    const less = Math.min(excess, Math.max(1, widest - others));
    widths[index] = widest - less;
    excess -= less;
  }
  return widths;
}

/** Returns the rows as texts. Nested rows follow their row and are indented. */
const cellsOf = ({ rows, opened = [] }: Table): string[][] =>
  rows.flatMap((cells, place) => [
    cells.map(plainText),
    ...(opened[place]?.rows ?? []).map((below) =>
      below.map((line, index) => (index === 0 ? INDENT : "") + plainText(line)),
    ),
  ]);

function writeTable(table: Table, { width }: TerminalLayout): string {
  const { caption, columns } = table;
  const head = columns.map(({ name }) => toVisibleLine(name));
  const rows = [...(head.some((name) => name !== "") ? [head] : []), ...cellsOf(table)];
  const natural = columns.map((_, index) => Math.max(...rows.map((cells) => lengthOf(cells[index] ?? ""))));
  const widths = fitWidths(natural, columns, width);
  const lines = rows.flatMap((cells) => {
    const folded = widths.map((most, index) => foldText(cells[index] ?? "", most));
    const height = Math.max(...folded.map(({ length }) => length));
    return Array.from({ length: height }, (_, line) =>
      folded
        .map((texts, index) => {
          const text = texts[line] ?? "";
          const space = " ".repeat(Math.max(0, (widths[index] ?? 0) - lengthOf(text)));
          return columns[index]?.number ? space + text : text + space;
        })
        .join(" ".repeat(GAP))
        .trimEnd(),
    );
  });
  return [...(caption === "" ? [] : [`${toVisibleLine(caption)}:`]), ...lines].join("\n");
}

const writeItems = (items: readonly Item[], indent: string): string[] =>
  items
    .map(itemOf)
    .flatMap(({ line, items: below }) => [indent + plainText(line), ...writeItems(below, indent + INDENT)]);

/** Names and values below each other. */
function writeValues(
  values: readonly (readonly [name: string, value: Line])[],
  layout: TerminalLayout,
): string {
  const columns = [{ name: "" }, { name: "" }];
  return writeTable({ kind: "table", caption: "", columns, rows: values }, layout);
}

const createWriters = (layout: TerminalLayout): BlockWriters => ({
  heading: ({ line }) => plainText(line),
  text: ({ line }) => plainText(line),
  figures: ({ figures }) => figures.map(({ value, text }) => toVisibleLine(`${value} ${text}`)).join("\n"),
  values: ({ values }) => writeValues(values, layout),
  chart: ({ table }) => writeTable(table, layout),
  table: (table) => writeTable(table, layout),
  list: ({ items }) => writeItems(items, "").join("\n"),
  code: ({ title, text }) => (title === "" ? "" : `# ${toVisibleLine(title)}\n`) + toVisibleText(text),
  folded: ({ title }) => toVisibleLine(title),
  section: ({ as, blocks }) => joinBlocks(blocks, layout, as === "group" ? "\n" : undefined),
});

/** Writes an empty line between two blocks, except below the heading of a small part and in a group. */
function joinBlocks(blocks: readonly Block[], layout: TerminalLayout, between = "\n\n"): string {
  const write = createBlockWriter(createWriters(layout));
  return blocks
    .map((block, index) => {
      const isLast = index === blocks.length - 1;
      const isSmall = block.kind === "heading" && block.level > 2;
      return write(block) + (isLast ? "" : isSmall ? "\n" : between);
    })
    .join("");
}

/** Renders blocks as text. Characters that would act on a terminal are escaped. */
export const renderTerminal = (blocks: readonly Block[], layout: TerminalLayout = {}): string =>
  blocks.length === 0 ? "" : `${joinBlocks(blocks, layout)}\n`;

const asComment = (text: string): string => text.replaceAll(/^/gm, "# ");

/** Renders blocks as a shell script: code stays executable, and all other texts become comments. */
export function renderScript(blocks: readonly Block[]): string {
  const write = createBlockWriter(createWriters({}));
  const parts = blocks.map((block) => (block.kind === "code" ? write(block) : asComment(write(block))));
  return `${parts.join("\n\n")}\n`;
}
