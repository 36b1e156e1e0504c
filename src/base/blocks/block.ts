/**
 * The text that people read, as data: a page or an output is a list of blocks. Renderers write them for a terminal
 * (`terminal.ts`), as HTML (`html.ts`), and as Markdown (`markdown.ts`). They escape all texts.
 */

/** The meaning of a label. It selects a color, if the output has colors. */
export type Tone = "good" | "warn" | "bad" | "plain";

/** A part of a line: plain text, or formatted text. */
export type Span =
  | string
  | { readonly code: string }
  | { readonly strong: string }
  /** A label. */
  | { readonly tag: string; readonly tone?: Tone | undefined }
  /** A link to the heading with this id, or to a page of the console: `/parity/ID`. */
  | { readonly link: string; readonly to: string };

/** A line of text. */
export type Line = string | readonly Span[];

/** A button of the console, and the action of the feature that it sends. */
export interface Button {
  readonly text: string;
  readonly action: string;
  /** The members of the action, except the name of the operator and the reason. */
  readonly given?: Readonly<Record<string, string>>;
  /** The text that screen readers read after the action. */
  readonly done: string;
}

/** An item of a list: a line, or a line with items below it. */
export type Item =
  | Line
  | {
      readonly line: Line;
      readonly items: readonly Item[];
      /** The console shows the button beside the line. */
      readonly button?: Button | undefined;
    };

/** A column of a table. */
export interface Column {
  readonly name: string;
  readonly number?: true;
}

/** The nested rows of a row, with their own columns. */
export interface OpenedRows {
  /** The number and kind of the rows, such as `3 tokens`. */
  readonly title: string;
  /** The title of the first column. */
  readonly of: string;
  readonly rows: readonly (readonly Line[])[];
}

export interface Table {
  readonly kind: "table";
  readonly caption: string;
  /** Whether the last column contains long texts, and the other columns contain names. */
  readonly isLastLong?: true;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Line[])[];
  /** The nested rows, at the index of their row; undefined for a row without nested rows. */
  readonly opened?: readonly (OpenedRows | undefined)[];
}

/** A column of a table with the cell of each row. Numbers are aligned to the right. */
type CellsOf<Row> = readonly [name: string, cell: (row: Row) => Line, kind?: "number"];

/** Creates a table from its columns. */
export const tableOf = <Row>(
  caption: string,
  rows: readonly Row[],
  columns: readonly CellsOf<Row>[],
): Table => ({
  kind: "table",
  caption,
  columns: columns.map(([name, , kind]) => ({ name, ...(kind && { number: true }) })),
  rows: rows.map((row) => columns.map(([, cell]) => cell(row))),
});

/** A chart of stacked bars. Terminals and Markdown show its table instead. */
export interface Chart {
  readonly kind: "chart";
  /** A description of the chart for people who can't see it. */
  readonly description: string;
  /** The parts of a bar from the bottom to the top, with the names of their colors. */
  readonly series: readonly { readonly name: string; readonly color: "alpha" | "native" }[];
  /** Text beside the names of the series. */
  readonly note: string;
  readonly bars: readonly {
    readonly label: string;
    readonly title: string;
    readonly values: readonly number[];
  }[];
  readonly table: Table;
}

/** A block. */
export type Block =
  | { readonly kind: "heading"; readonly level: 1 | 2 | 3 | 4; readonly line: Line; readonly id?: string }
  | { readonly kind: "text"; readonly line: Line }
  | {
      readonly kind: "figures";
      readonly figures: readonly { readonly value: string; readonly text: string }[];
    }
  | { readonly kind: "values"; readonly values: readonly (readonly [name: string, value: Line])[] }
  | Chart
  | Table
  /** The list's name, for people who can't see it. */
  | { readonly kind: "list"; readonly name?: string; readonly items: readonly Item[] }
  /** Text to copy unchanged, such as a shell command. */
  | { readonly kind: "code"; readonly title: string; readonly text: string }
  /** Blocks that HTML shows after a click on their title. Terminals and Markdown only show the title. */
  | { readonly kind: "folded"; readonly title: string; readonly blocks: readonly Block[] }
  /** Blocks that belong together: on their own page in print, in a frame, or as a plain group. */
  | { readonly kind: "section"; readonly as: "page" | "frame" | "group"; readonly blocks: readonly Block[] };

/** Renders each kind of block in one format. */
export type BlockWriters = {
  readonly [Kind in Block["kind"]]: (block: Extract<Block, { kind: Kind }>) => string;
};

/** Creates a function that renders any block. */
export const createBlockWriter =
  (writers: BlockWriters) =>
  (block: Block): string =>
    (writers[block.kind] as (anyBlock: Block) => string)(block);

/** The parts of a line. */
export const spansOf = (line: Line): readonly Span[] => (typeof line === "string" ? [line] : line);

/** An item with its line and the items below it. */
export const itemOf = (item: Item): { readonly line: Line; readonly items: readonly Item[] } =>
  typeof item === "string" || !("line" in item) ? { line: item, items: [] } : item;

/** The text of a part of a line, without its format. */
export function spanText(span: Span): string {
  if (typeof span === "string") return span;
  if ("code" in span) return span.code;
  if ("strong" in span) return span.strong;
  return "tag" in span ? span.tag : span.link;
}

/** Names with commas between them, as code. */
export const listNames = (names: readonly string[]): readonly Span[] =>
  names.flatMap((name, index): Span[] => [...(index === 0 ? [] : [", "]), { code: name }]);

/** Creates a list. Returns no block if there are no items. */
export const listOf = (items: readonly Item[], name?: string): Block[] =>
  items.length === 0 ? [] : [{ kind: "list", ...(name !== undefined && { name }), items }];

/** Creates lists with names. Omits empty lists. */
export const namedLists = (lists: readonly (readonly [name: string, items: readonly Item[]])[]): Block[] =>
  lists.flatMap(([name, items]) => listOf(items, name));

/** Creates a list that is shown after a click on its title. Returns no block if there are no items. */
export const foldedList = (title: string, items: readonly Item[]): Block[] =>
  items.length === 0 ? [] : [{ kind: "folded", title, blocks: listOf(items) }];
