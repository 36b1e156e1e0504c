import { isObject, parseJson } from "../../dialect/json/parse.ts";
import { HttpError } from "../../dialect/http-error.ts";
import type { MaybePromise } from "../../jsonata/index.ts";
import type { JsonObject } from "../../mapping/translation-context.ts";
import { header, type AlphaRequest } from "../context.ts";
import type { Verdict } from "./authorize.ts";

/** Deeper than any body of either dialect. */
const MOST_LEVELS = 32;
/** Members and items of a body in all: its cost grows with their number more than with its bytes. */
export const MOST_VALUES = 20_000;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * `application/json`, `application/anything+json`, and the type that `curl -d` sends with everything (contract). Case
 * and further parameters do not count (RFC 9110 8.3, RFC 6839).
 */
const JSON_TYPE = /^application\/(?:(?:[a-z0-9.!#$&^_-]+\+)?json|x-www-form-urlencoded) *(?:;|$)/i;
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?utf-?8\b)/i;

const WRONG_TYPE = "The body must be application/json in UTF-8.";

function parseText(body: Buffer, type: string | undefined): unknown {
  try {
    return parseJson(utf8.decode(body), { maxDepth: MOST_LEVELS, maxValues: MOST_VALUES });
  } catch (error) {
    if (error instanceof RangeError) {
      const isNested = error.message.includes("nested");
      throw new HttpError(
        400,
        isNested ? "The body is nested too deeply." : "The body has too many members.",
      );
    }
    const isCalledJson = type === undefined || /json/i.test(type);
    throw new HttpError(400, isCalledJson ? "The body is not valid JSON." : WRONG_TYPE);
  }
}

/**
 * Parses a JSON body. Clients send the literal `null` where they mean no body. Without a `Content-Type` the body is
 * JSON, since alpha has nothing else.
 *
 * @throws {HttpError} 400 for anything but a JSON object
 */
export function parseBody(request: AlphaRequest, body: Buffer | undefined): JsonObject {
  if (!body || body.length === 0) return {};
  const type = header(request, "content-type");
  if (type !== undefined && (!JSON_TYPE.test(type) || OTHER_CHARSET.test(type)))
    throw new HttpError(400, WRONG_TYPE);
  const value = parseText(body, type);
  if (value === null) return {};
  if (!isObject(value)) throw new HttpError(400, "The body must be a JSON object.");
  return value;
}

/** The JSON body of a request, parsed on first use. @throws {HttpError} 400 for anything but a JSON object */
export type ReadJson = () => JsonObject;

/**
 * Reads the body of an authorized request. The body of an upload is not read: it is streamed to v4.
 *
 * @param isKnown whether v4 has accepted the client's token
 * @returns undefined where there is nothing to read
 * @throws {HttpError} see {@link ReadBody}
 */
export function readBody(
  { readBody: read, address }: AlphaRequest,
  [first]: readonly Verdict[],
  isKnown: boolean,
): MaybePromise<Buffer | undefined> {
  return first?.match.route.upload ? undefined : read?.({ known: isKnown, address });
}

/** Parses a body as JSON, once, when it is needed. */
export function parseOnUse(request: AlphaRequest, body: Buffer | undefined): ReadJson {
  let json: JsonObject | undefined;
  return () => (json ??= parseBody(request, body));
}
