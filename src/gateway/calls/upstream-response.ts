/** v4's responses: their JSON, and the lists and objects that they contain. */
import {
  type Cursor,
  cursorAt,
  expectEnd,
  isObject,
  isObjectAt,
  parseJson,
  readValue,
} from "../../base/index.ts";
import {
  isSuccess,
  type JsonObject,
  type ListWalk,
  type ParseListBody,
  type ReadWrapped,
  type ReceivedPage,
  type RouteLists,
} from "../../pack/index.ts";
import type { HttpResponse } from "../upstream/http-call.ts";

/** No rule can translate v4's response. The message is for the log. The client gets a neutral 500. */
export class InvalidUpstreamResponseError extends Error {
  override readonly name = "InvalidUpstreamResponseError";
  readonly code = "AG_UPSTREAM_RESPONSE_INVALID";
}

/** v4's response to one call. */
export interface UpstreamResponse {
  readonly status: number;
  readonly success: boolean;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as v4 sent it, in UTF-8. Empty if missing. */
  readonly bytes: Buffer;
  /** The parsed JSON, parsed on first use. Undefined if there is no body, or if it is invalid. */
  readonly json: unknown;
  /** Whether the body is valid JSON. Undefined until it was checked. */
  isValidJson?: boolean | undefined;
}

/** Maximum number of bytes of a body that is searched for the reasons of an error. v4's errors are small. */
const LONGEST_ERROR = 262_144;

/** Maximum number of values of a parsed response. A page has at most some thousand objects. */
const MOST_VALUES = 200_000;

/** Parses JSON. @throws {InvalidUpstreamResponseError} if it is nested too deeply or has too many values */
function parseOrUndefined(bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString(), { maxValues: MOST_VALUES });
  } catch (error) {
    if (error instanceof RangeError)
      throw new InvalidUpstreamResponseError(`the response is not JSON that can be read: ${error.message}`);
    return undefined;
  }
}

/**
 * Most responses are translated from bytes to bytes. Their JSON is parsed once, for rules that need it. This is a
 * class, because a getter in a literal gives each object its own hidden class, which keeps body and JSON alive until
 * the next full collection.
 */
class ParsedOnUse implements UpstreamResponse {
  readonly status: number;
  readonly success: boolean;
  readonly headers: UpstreamResponse["headers"];
  readonly bytes: Buffer;
  readonly ms: number;
  isValidJson: boolean | undefined;
  #json: unknown;
  #isParsed: boolean;

  constructor({ status, headers, bytes, ms }: HttpResponse) {
    this.status = status;
    this.success = isSuccess(status);
    this.headers = headers;
    this.bytes = bytes;
    this.ms = ms;
    this.#isParsed = bytes.length === 0;
  }

  get json(): unknown {
    if (!this.#isParsed && (this.success || this.bytes.length <= LONGEST_ERROR))
      this.#json = parseOrUndefined(this.bytes);
    this.#isParsed = true;
    return this.#json;
  }
}

/** Converts the response of an HTTP call, with its duration in milliseconds. */
export const toUpstreamResponse = (response: HttpResponse): UpstreamResponse & { readonly ms: number } =>
  new ParsedOnUse(response);

/** Returns an object. @throws {InvalidUpstreamResponseError} for any other value */
export function parseObject(value: unknown): JsonObject {
  if (!isObject(value)) throw new InvalidUpstreamResponseError("the response is not a JSON object");
  return value;
}

/** Checks that the text at a cursor is an object. @throws {InvalidUpstreamResponseError} */
export function objectAt(from: Cursor): Cursor {
  if (!isObjectAt(from)) throw new InvalidUpstreamResponseError("the response is not a JSON object");
  return from;
}

/** Runs a reader of a response's JSON. @throws {InvalidUpstreamResponseError} if the JSON is invalid */
export function readJsonOf<T>({ status }: UpstreamResponse, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    const reason = error instanceof RangeError ? `: ${error.message}` : "";
    throw new InvalidUpstreamResponseError(
      `the response with ${status} is not JSON that can be read${reason}`,
    );
  }
}

/**
 * Reads a list from start to end, and finds invalid JSON on the way.
 *
 * @param readWrapped reads the object in the wrapper of an item
 * @throws {InvalidUpstreamResponseError} if the response is not a list
 */
export function openListBody<Item>(
  response: UpstreamResponse,
  parseList: ParseListBody,
  readItem: (from: Cursor) => Item,
  readWrapped: ReadWrapped | undefined,
) {
  return readJsonOf(response, () => {
    const from = cursorAt(response.bytes);
    const list = parseList(from, readItem, readWrapped);
    expectEnd(from);
    response.isValidJson = true;
    if ("fault" in list)
      throw new InvalidUpstreamResponseError("the response is not a list of the pack's shape");
    return list;
  });
}

/** Counts a page. @throws {InvalidUpstreamResponseError} if the list has too many pages */
export function acceptPage(walk: ListWalk, page: ReceivedPage): void {
  try {
    walk.accept(page);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new InvalidUpstreamResponseError(`the list can't be read: ${error.message}`);
  }
}

/** A page, and its items. */
interface ParsedPage extends ReceivedPage {
  readonly items: readonly unknown[];
}

/**
 * Parses a page.
 *
 * @param readWrapped reads the object in the wrapper of an item
 * @throws {InvalidUpstreamResponseError} if the response is not a list
 */
export function parsePage(
  response: UpstreamResponse,
  { paging, parseList }: Pick<RouteLists, "paging" | "parseList">,
  readWrapped: ReadWrapped | undefined,
): ParsedPage {
  const { items, ...values } = openListBody(response, parseList, readValue, readWrapped);
  const lastItem = (): string | undefined => paging.upstreamCursor(items.at(-1));
  return { items, values, headers: response.headers, count: items.length, lastItem };
}
