/** What a written report consists of: blocks that HTML and Markdown show in their own ways. */
import type { DayUsage } from "../../audit/usage.ts";

/** A piece of a line: plain text, or something that stands out. */
export type OutlineSpan =
  | string
  | { readonly code: string }
  | { readonly strong: string }
  /** One word of a few, which HTML colours. */
  | { readonly tag: string }
  | { readonly link: string; readonly to: string };

export type Line = readonly OutlineSpan[];

export interface Column {
  readonly name: string;
  readonly number?: true;
}

export type Block =
  | { readonly kind: "heading"; readonly level: 1 | 2 | 3 | 4; readonly line: Line; readonly id?: string }
  | { readonly kind: "text"; readonly line: Line }
  | {
      readonly kind: "figures";
      readonly figures: readonly { readonly value: string; readonly text: string }[];
    }
  | { readonly kind: "days"; readonly days: readonly DayUsage[] }
  | {
      readonly kind: "table";
      readonly caption: string;
      /** Of fields: two names, and a long text. */
      readonly of?: "fields";
      readonly columns: readonly Column[];
      readonly rows: readonly (readonly Line[])[];
    }
  | { readonly kind: "list"; readonly lines: readonly Line[] }
  | { readonly kind: "command"; readonly title: string; readonly text: string }
  /** Blocks that belong together; a client's begin on a page of their own where they are printed. */
  | { readonly kind: "section"; readonly of: "client" | "call" | "part"; readonly blocks: readonly Block[] };

/** How each kind of block is written in some form. */
export type BlockWriters = {
  readonly [Kind in Block["kind"]]: (block: Extract<Block, { kind: Kind }>) => string;
};

/** Makes one function of them. */
export const blockWriter =
  (writers: BlockWriters) =>
  (block: Block): string =>
    (writers[block.kind] as (given: Block) => string)(block);
