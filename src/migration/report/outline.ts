/** A report as blocks, which HTML and Markdown render. */
import { type DayUsage, UNACCEPTED } from "../../audit/index.ts";
import type { SideNames } from "../../pack/index.ts";
import type { ClientGuide } from "./model.ts";

/** A part of a line: plain text, or formatted text. */
export type OutlineSpan =
  | string
  | { readonly code: string }
  | { readonly strong: string }
  /** A label, which HTML renders in a color. */
  | { readonly tag: string }
  | { readonly link: string; readonly to: string };

/** A line of text. */
export type Line = readonly OutlineSpan[];

/** A column of a table. */
export interface Column {
  readonly name: string;
  readonly number?: true;
}

/** Rows that belong to a row, with its columns. */
export interface OpenedRows {
  /** What they are and how many, `3 tokens`. */
  readonly title: string;
  /** The name of the first column. */
  readonly of: string;
  readonly rows: readonly (readonly Line[])[];
}

/** A block of a report. */
export type Block =
  | { readonly kind: "heading"; readonly level: 1 | 2 | 3 | 4; readonly line: Line; readonly id?: string }
  | { readonly kind: "text"; readonly line: Line }
  | {
      readonly kind: "figures";
      readonly figures: readonly { readonly value: string; readonly text: string }[];
    }
  | { readonly kind: "days"; readonly days: readonly DayUsage[]; readonly names: SideNames }
  | {
      readonly kind: "table";
      readonly caption: string;
      /** `fields`: two names, and a long text. */
      readonly of?: "fields";
      readonly columns: readonly Column[];
      readonly rows: readonly (readonly Line[])[];
      /** What a row opens to, by its place; undefined for one that does not. */
      readonly opened?: readonly (OpenedRows | undefined)[];
    }
  | { readonly kind: "list"; readonly lines: readonly Line[] }
  | { readonly kind: "command"; readonly title: string; readonly text: string }
  /** Blocks that HTML shows when they are opened. Markdown has their title only. */
  | { readonly kind: "folded"; readonly title: string; readonly blocks: readonly Block[] }
  /** Blocks that belong together. In print, a client starts on a new page. */
  | { readonly kind: "section"; readonly of: "client" | "call" | "part"; readonly blocks: readonly Block[] };

/** Renders each kind of block in one format. */
export type BlockWriters = {
  readonly [Kind in Block["kind"]]: (block: Extract<Block, { kind: Kind }>) => string;
};

/** Creates a function that renders any block. */
export const createBlockWriter =
  (writers: BlockWriters) =>
  (block: Block): string =>
    (writers[block.kind] as (anyBlock: Block) => string)(block);

/** The name of a client: that of the client directory, else its user agent, or the family of its user agents. */
export const clientName = ({
  name,
  family = null,
  userAgent,
  client,
}: Pick<ClientGuide, "name" | "userAgent" | "client"> & Partial<Pick<ClientGuide, "family">>): string =>
  client === UNACCEPTED
    ? "Tokens that were never accepted"
    : (name ??
      (family === "" ? "No user agent" : family) ??
      userAgent ??
      (client === null ? "Requests without a token" : `Client ${client}`));
