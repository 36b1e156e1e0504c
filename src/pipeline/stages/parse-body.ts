import { isObject, parseJson } from "../../dialect/json/parse.ts";
import { HttpError } from "../../dialect/http-error.ts";
import type { JsonObject } from "../../mapping/translation-context.ts";
import { header, type AlphaRequest, type RequestContext } from "../context.ts";

/** Deeper than any body of either dialect. */
const MOST_LEVELS = 32;
/** Members and items of a body in all: what they cost grows with their number more than with their bytes. */
export const MOST_VALUES = 20_000;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * `application/json`, `application/anything+json`, and the type that `curl -d` says of all it sends (contract);
 * case and further parameters do not count (RFC 9110 8.3, RFC 6839).
 */
const JSON_TYPE = /^application\/(?:(?:[a-z0-9.!#$&^_-]+\+)?json|x-www-form-urlencoded) *(?:;|$)/i;
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?utf-?8\b)/i;

const WRONG_TYPE = "The body must be application/json in UTF-8.";

function parsed(body: Buffer, type: string | undefined): unknown {
  try {
    return parseJson(utf8.decode(body), { maxDepth: MOST_LEVELS, maxValues: MOST_VALUES });
  } catch (error) {
    const tooMuch = /nested/.test((error as Error).message)
      ? "The body is nested too deeply."
      : "The body has too many members.";
    if (error instanceof RangeError) throw new HttpError(400, tooMuch);
    throw new HttpError(
      400,
      type === undefined || /json/i.test(type) ? "The body is not valid JSON." : WRONG_TYPE,
    );
  }
}

/**
 * Receives the body of a request and writes it down.
 *
 * @throws {HttpError} see {@link ReadBody}
 */
export async function receiveBody(
  request: AlphaRequest,
  notes: RequestContext,
  known: boolean,
  most?: number,
): Promise<Buffer | undefined> {
  if (!request.readBody) return undefined;
  try {
    notes.body = await request.readBody({ known, address: request.address }, most);
    return notes.body;
  } catch (error) {
    if (error instanceof HttpError && error.status === 500) {
      notes.rejectedBy = "bodies";
      notes.warnings.push("too many bodies are in memory");
    }
    throw error;
  }
}

/**
 * Reads the JSON body of a request. Clients send the literal `null` where they mean none; without a
 * `Content-Type` it is taken to be JSON, since nothing else is spoken here.
 *
 * @throws {HttpError} 400 for anything but a JSON object.
 */
export function parseBody(request: AlphaRequest, body: Buffer | undefined): JsonObject {
  if (!body || body.length === 0) return {};
  const type = header(request, "content-type");
  if (type !== undefined && (!JSON_TYPE.test(type) || OTHER_CHARSET.test(type))) {
    throw new HttpError(400, WRONG_TYPE);
  }
  const value = parsed(body, type);
  if (value === null) return {};
  if (!isObject(value)) throw new HttpError(400, "The body must be a JSON object.");
  return value;
}
