import type { Cursor } from "../dialect/json/scan.ts";
import type { MaybePromise } from "../jsonata/index.ts";
import type { OutputBuffer } from "./codegen/output-buffer.ts";

/** What translating may look at besides the object itself. */

export type JsonObject = Record<string, unknown>;

/** An alpha object of a catalog, and the text of it that answers hold. */
export interface CatalogEntry {
  readonly object: JsonObject;
  readonly text: string;
}

/** The gateway's copy of v4's catalogs, as mappings see it: alpha objects by v4 id. */
export interface CatalogCopy {
  /** False until a catalog has been read once; until then nothing is known to be unknown. */
  isLoaded(catalog: string): boolean;
  find(catalog: string, v4Id: string): CatalogEntry | undefined;
  /** The text of the alpha object, by the text of its v4 id that stands between two places; both in UTF-8. */
  cachedText(catalog: string, bytes: Uint8Array, start: number, end: number): Uint8Array | undefined;
  /** The v4 id as v4 spells it, whatever the case it was asked in. */
  canonicalSpelling(catalog: string, anyCase: string): string | undefined;
}

export interface ReadContext {
  readonly catalogs: CatalogCopy;
  /** Answers of the extra reads, by their names in the route; missing where one failed or was not made. */
  readonly related: Readonly<Record<string, unknown>>;
  /** The alpha body of the call, in its documented form, where it had one. */
  readonly sentBody?: JsonObject | undefined;
}

/**
 * From the text of a v4 object to that of the alpha object. The cursor is behind the v4 object when the call
 * returns, even where the result comes later. What is no object has no members.
 *
 * @throws {SyntaxError} or {RangeError} where no JSON stands at the cursor
 */
export type ReadFunction = (from: Cursor, reading: ReadContext) => MaybePromise<string>;

/** The same, put behind what is written already; what comes later is not, but given. */
export type AppendFunction = (
  from: Cursor,
  reading: ReadContext,
  output: OutputBuffer,
) => Promise<string> | undefined;

/** The same on the way out. */
export interface WriteContext {
  readonly catalogs: CatalogCopy;
  /** Answers of the reads before the call, by their names in the pack. */
  readonly prerequisites: Readonly<Record<string, unknown>>;
  /** Values of the path's parameters. */
  readonly path: Readonly<Record<string, string>>;
  /** The client's address. */
  readonly client: string;
}
