import type { ErrorDetail } from "./errors/http-error.ts";
import type { Cursor, PaddedText } from "../base/index.ts";
import type { Query } from "./paths/query.ts";
import type { MaybePromise } from "../jsonata/index.ts";
import type { OutputBuffer } from "./codegen/output-buffer.ts";

/** A JSON object. */
export type JsonObject = Record<string, unknown>;

/** An alpha object of a catalog, with its text, which is copied into responses. */
export interface CatalogEntry {
  readonly object: JsonObject;
  readonly text: string;
  /** The losses of its translation. Undefined if missing. */
  readonly losses?: readonly string[];
}

/** The cached catalogs of v4: alpha objects by v4 id. */
export interface CatalogCopy {
  /** Whether a catalog was read. Until then, no id can be rejected as unknown. */
  isLoaded(catalog: string): boolean;
  find(catalog: string, v4Id: string): CatalogEntry | undefined;
  /** Returns the UTF-8 text of an alpha object. `bytes` contains the JSON text of its v4 id from `start` to `end`. */
  cachedText(catalog: string, bytes: Uint8Array, start: number, end: number): PaddedText | undefined;
  /** Returns a v4 id in v4's spelling. The case of the given id does not matter. */
  canonicalSpelling(catalog: string, anyCase: string): string | undefined;
}

/** The state before any catalog was read. */
export const NO_CATALOGS: CatalogCopy = {
  isLoaded: () => false,
  find: () => undefined,
  cachedText: () => undefined,
  canonicalSpelling: () => undefined,
};

/** Collects the losses of a translated response. A `Set` of texts implements it. */
export interface LossSink {
  add(loss: string): unknown;
  has(loss: string): boolean;
}

/** The head of the client's request. */
export interface ClientHead {
  readonly query: Query;
  readonly request: { readonly headers: Readonly<Record<string, readonly string[] | undefined>> };
  /** The arrival time of the request. */
  readonly time: Date;
}

/** A client's request that matched a route, with the upstream's values of its path parameters. */
export interface RoutedRequest extends ClientHead {
  readonly match: { readonly parameters: Readonly<Record<string, string>> };
}

/** The upstream's headers by lower-case name. */
export type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** An upstream's response, in the form for expressions. */
export interface ReceivedResponse {
  readonly status?: number;
  readonly headers: ReceivedHeaders;
  readonly json: unknown;
}

/** The known facts about a request. A member that has no value yet is undefined. */
export interface Scope {
  /** The head of the client's request. Undefined if the translation is for several requests. */
  readonly head?: RoutedRequest | undefined;
  /** The client's body in its documented form. */
  readonly body?: unknown;
  /** The translated body. */
  readonly request?: unknown;
  readonly response?: ReceivedResponse | undefined;
  /** The values of calls by their names. */
  readonly calls: Readonly<Record<string, unknown>>;
}

/** The inputs of the translation of a v4 response, in addition to the object itself. */
export interface ReadContext extends Scope {
  readonly catalogs: CatalogCopy;
  /** Receives losses. Undefined if they are not needed. */
  readonly lost?: LossSink | undefined;
}

/**
 * Translates the text of a v4 object to the text of an alpha object. When the call returns, the cursor is after the v4
 * object, even if the result is a promise. A value that is not an object has no members.
 *
 * @throws {SyntaxError} If there is no valid JSON at the cursor.
 * @throws {RangeError} If it is nested too deeply.
 */
export type ReadFunction = (from: Cursor, reading: ReadContext) => MaybePromise<string>;

/** Like {@link ReadFunction}, but appends the text to a buffer. A promise is returned and not appended. */
export type AppendFunction = (
  from: Cursor,
  reading: ReadContext,
  output: OutputBuffer,
) => Promise<string> | undefined;

/** The change of a value by an edit, if only changes are sent to the upstream. */
export interface Change<T> {
  /** The part of the value that differs from the current one. */
  readonly changed: T;
  /** The previous value of the changed part. */
  readonly before: T;
}

/** The inputs of the translation of an alpha body, in addition to the body itself. */
export interface WriteContext extends Scope {
  readonly catalogs: CatalogCopy;
  /** Values of the path parameters. */
  readonly path: Readonly<Record<string, string>>;
  /** The IP address of the client. */
  readonly client: string;
  /** Whether the body contains errors: it is then only translated to find further errors, and not sent. */
  readonly isInvalid?: boolean;
  /** The errors that the schema found in the body. The invalid members are omitted. */
  readonly schemaErrors?: readonly ErrorDetail[];
  /** The changes of the body, if only they are sent to the upstream. */
  readonly change?: Change<JsonObject> | undefined;
}
