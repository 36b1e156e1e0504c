import {
  openEnvelope,
  closeEnvelope,
  writeEnvelope,
  type EnvelopeNames,
  type ParseListBody,
} from "../../dialect/envelope.ts";
import { isObject } from "../../dialect/json/parse.ts";
import { checkJson, cursorAt, expectEnd, isObjectAt, type Cursor } from "../../dialect/json/scan.ts";
import { readErrors, type ErrorNames } from "../../dialect/errors.ts";
import { HttpError, type ErrorDetail } from "../../dialect/http-error.ts";
import { alphaStatus, type StatusesDefinition } from "../../dialect/statuses.ts";
import { awaitAll, ignoreRejections, type MaybePromise } from "../../jsonata/index.ts";
import { sharedOutputBuffer } from "../../mapping/codegen/output-buffer.ts";
import type { JsonObject, ReadContext } from "../../mapping/translation-context.ts";
import type { Route } from "../../mapping/compile/route.ts";
import type { UpstreamResponse } from "./call-upstream.ts";
import type { RequestContext } from "../context.ts";

/** v4 answered something that no rule can translate. The message is for the log; the client gets a neutral 500. */
export class InvalidUpstreamResponseError extends Error {
  override readonly name = "InvalidUpstreamResponseError";
  readonly code = "AG_UPSTREAM_RESPONSE_INVALID";
}

export interface TranslationConfig {
  readonly errors: ErrorNames;
  readonly statuses: StatusesDefinition;
  readonly openList: ParseListBody;
  readonly alpha: EnvelopeNames;
}

/** Where v4 gives no reason of its own. */
const PLAIN_REASONS: Readonly<Record<number, string>> = {
  401: "The access token is not valid.",
  403: "This is not permitted.",
  404: "Not found",
};

const LIMIT_HEADERS = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"];

function limitHeaders(headers: UpstreamResponse["headers"]): Record<string, string> {
  return Object.fromEntries(
    LIMIT_HEADERS.flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" && /^\d{1,15}$/.test(value) ? [[name, value]] : [];
    }),
  );
}

/** An id in a body that v4 does not know: 404 would say that the called path does not exist (translation 3.1). */
function status(
  answer: UpstreamResponse,
  route: Route,
  method: string,
  statuses: StatusesDefinition,
): number {
  const unknownInBody = answer.status === 404 && method === "POST" && !route.namesObject;
  return unknownInBody ? statuses.other_4xx : alphaStatus(answer.status, statuses);
}

/** Longer names and reasons are left as they are. */
const LONGEST_NAMED = { name: 100, reason: 2000 };

/** A reason that names its own field does so in v4's word (`config_id is not valid`): alpha's stands there instead. */
function inAlphaNames(reason: string, v4: string, alpha: string): string {
  if (v4 === alpha || v4.length > LONGEST_NAMED.name || reason.length > LONGEST_NAMED.reason) return reason;
  const word = new RegExp(`(?<![\\w.])${RegExp.escape(v4)}(?![\\w[])(?!\\.\\w)`, "g");
  return reason.replaceAll(word, () => alpha);
}

/**
 * Turns v4's refusal into alpha's. Nobody is blamed for a member that the gateway added by itself.
 *
 * @throws {HttpError} always
 */
export function throwTranslatedError(
  answer: UpstreamResponse,
  route: Route,
  call: {
    readonly method: string;
    readonly gatewayFields: ReadonlySet<string>;
    readonly clientSent: (member: string) => boolean;
  },
  rules: TranslationConfig,
  notes: RequestContext,
): never {
  const alpha = status(answer, route, call.method, rules.statuses);
  if (answer.status === rules.statuses.rate_limited.v4)
    notes.upstreamRateLimitHeaders = limitHeaders(answer.headers);
  if (alpha !== answer.status) notes.warnings.push(`v4 answered ${answer.status}`);
  const told = readErrors(answer.json, rules.errors);
  const plain =
    alpha === rules.statuses.other
      ? "The service could not answer this request."
      : "The request was refused.";
  if (!told) throw new HttpError(alpha, PLAIN_REASONS[alpha] ?? plain);
  const faults = told.map(({ reason, field }): ErrorDetail => {
    const named = field === undefined || call.gatewayFields.has(field) ? undefined : route.errorField(field);
    return named === undefined || field === undefined
      ? { reason }
      : { reason: inAlphaNames(reason, field, named), field: named };
  });
  const { notFoundField } = route;
  if (
    answer.status === 404 &&
    notFoundField !== undefined &&
    call.clientSent(notFoundField) &&
    faults[0]?.field === undefined
  ) {
    throw new HttpError(alpha, [
      { reason: faults[0]?.reason ?? plain, field: notFoundField },
      ...faults.slice(1),
    ]);
  }
  throw new HttpError(alpha, faults);
}

/** A write without a word has happened, and a 500 would ask for another one; a read without a word told nothing. */
const isRead = ({ source }: Route): boolean => "call" in source && source.call.method === "GET";

/** Anything else would be read as an object that lacks every member, and answered as one full of nulls. */
export function parseObject(value: unknown): JsonObject {
  if (!isObject(value)) throw new InvalidUpstreamResponseError("v4's object is none");
  return value;
}

/** The same of an object's text. */
function objectAt(from: Cursor): Cursor {
  if (!isObjectAt(from)) throw new InvalidUpstreamResponseError("v4's object is none");
  return from;
}

/** Runs what reads the JSON of a response, and names what is wrong with it. */
function readJson<T>({ status }: UpstreamResponse, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    const reason = error instanceof RangeError ? `: ${error.message}` : "";
    throw new InvalidUpstreamResponseError(`v4's ${status} is not JSON that can be read${reason}`);
  }
}

/**
 * Reads a list in one go: what is wrong with its text shows on the way.
 *
 * @throws {InvalidUpstreamResponseError} for what is none
 */
export function openListBody<Item>(
  answer: UpstreamResponse,
  { openList: open }: TranslationConfig,
  readItem: (from: Cursor) => Item,
) {
  return readJson(answer, () => {
    const from = cursorAt(answer.text, answer.bytes);
    const list = open(from, readItem);
    expectEnd(from);
    answer.isValidJson = true;
    if (!list) throw new InvalidUpstreamResponseError("v4's list has no envelope");
    return list;
  });
}

/** Reads an object in one go, as `openListBody` does a list. */
function readObject(answer: UpstreamResponse, route: Route, reading: ReadContext): MaybePromise<string> {
  const pending: MaybePromise<string>[] = [];
  try {
    return readJson(answer, () => {
      const from = cursorAt(answer.text, answer.bytes);
      if (!isObjectAt(from) && answer.text !== "") checkJson(answer.text, answer.bytes);
      const object = route.read(objectAt(from), reading);
      pending.push(object);
      expectEnd(from);
      answer.isValidJson = true;
      return object;
    });
  } catch (error) {
    ignoreRejections(pending);
    throw error;
  }
}

/** Rows written one behind the other, without a text for each; undefined where a route's rows may come later. */
function writeList(
  answer: UpstreamResponse,
  route: Route,
  reading: ReadContext,
  rules: TranslationConfig,
): Buffer | undefined {
  const { append } = route;
  if (!append) return undefined;
  const output = sharedOutputBuffer;
  const start = output.at;
  try {
    output.append(openEnvelope(route.list));
    const first = output.at;
    const list = openListBody(answer, rules, (from) => {
      if (output.at > first) output.append(",");
      return append(objectAt(from), reading, output);
    });
    output.append(closeEnvelope(list, rules.alpha));
    return output.takeBytes(start);
  } finally {
    output.truncate(start);
  }
}

/** Rows read one by one. Where one fails, promises of those before it are not left without a handler. */
async function readList(
  answer: UpstreamResponse,
  route: Route,
  reading: ReadContext,
  rules: TranslationConfig,
): Promise<string> {
  const rows: MaybePromise<string>[] = [];
  try {
    const list = openListBody(answer, rules, (from) => rows.push(route.read(objectAt(from), reading)));
    return writeEnvelope(await awaitAll(rows), list, route.list, rules.alpha);
  } catch (error) {
    ignoreRejections(rows);
    throw error;
  }
}

/**
 * Makes alpha's body from v4's success, as JSON text.
 *
 * @throws {InvalidUpstreamResponseError} when it is not what the route gives; {Refusal} where there is no body, and that means no.
 */
export async function buildResponse(
  answer: UpstreamResponse,
  route: Route,
  reading: ReadContext,
  rules: TranslationConfig,
): Promise<string | Buffer> {
  const empty = answer.text === "";
  if (!empty && route.response === "object") return readObject(answer, route, reading);
  if (!empty && route.response === "nothing" && answer.isValidJson !== true) {
    readJson(answer, () => checkJson(answer.text, answer.bytes));
    answer.isValidJson = true;
  }
  if (empty && route.emptyError !== undefined)
    throw new HttpError(rules.statuses.other_4xx, route.emptyError);
  if (route.response === "nothing") return "{}";
  if (empty && !isRead(route)) return "{}";
  if (route.response === "object") return readObject(answer, route, reading);
  const written = writeList(answer, route, reading, rules);
  if (written) return written;
  return readList(answer, route, reading, rules);
}
