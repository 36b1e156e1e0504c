/** The main call of an object that consists of several v4 resources: each of its parts is read or written. */
import { isObject, printJson } from "../../base/index.ts";
import type { JsonObject } from "../../pack/index.ts";
import { throwTranslatedError } from "../calls/translate-error.ts";
import type { AuthorizedRequest } from "../request/authorized-request.ts";
import { warnOfWrites } from "../calls/instrument-call.ts";
import { requestWithoutBody, type PreparedRequest } from "../calls/prepared-request.ts";
import { parseObject, type UpstreamResponse } from "../calls/upstream-response.ts";

/** One of the v4 resources that an object is merged from, and its request. */
interface Part {
  /** The name of the part. Undefined for the object itself. */
  readonly name: string | undefined;
  readonly request: PreparedRequest;
}

const hasMembers = (value: unknown): value is JsonObject => isObject(value) && Object.keys(value).length > 0;

/** Splits a request into its parts: parts with members in the body are written, and all others are read. */
function splitRequest(prepared: PreparedRequest, { match }: AuthorizedRequest): Part[] {
  const parts = match.route.callOrder.parts.flatMap(({ part, endpoint }) =>
    part ? [{ ...part, write: endpoint }] : [],
  );
  const { values } = prepared;
  const { body: object, ...call } = prepared;
  const body = isObject(object) ? object : {};
  const names = new Set(parts.map(({ name }) => name));
  const ownMembers = Object.fromEntries(Object.entries(body).filter(([name]) => !names.has(name)));
  const main: PreparedRequest = hasMembers(ownMembers)
    ? { ...call, body: ownMembers }
    : { ...call, method: "GET" };
  const others = parts.map(({ name, read, write }): Part => {
    const members = body[name];
    if (!hasMembers(members)) return { name, request: requestWithoutBody(read, values) };
    const request = { ...call, ...requestWithoutBody(write, values), body: members };
    return { name, request };
  });
  return [{ name: undefined, request: main }, ...others];
}

/** Returns the calls of all parts, in the form for clients. */
export const partsEquivalent = (...given: Parameters<typeof splitRequest>): string =>
  splitRequest(...given)
    .map(({ request }) => `${request.method} ${request.path}`)
    .join(", ");

/** Throws the error of a part. Members of the part are named as members of the object. */
function throwPartError(
  response: UpstreamResponse,
  { name, request }: Part,
  authorized: AuthorizedRequest,
): never {
  const { route } = authorized.match;
  const errorField = (field: string) => route.errorField(name === undefined ? field : `${name}.${field}`);
  return throwTranslatedError(response, { ...route, errorField }, request, authorized);
}

/**
 * Calls v4 for each part: first the writes, sequentially, then the reads, concurrently.
 *
 * @returns one response, as if v4 had one resource
 * @throws {HttpError} v4's error for any part, even though an earlier part may have been written
 */
export async function callParts(
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): Promise<UpstreamResponse> {
  const { upstream } = authorized;
  const parts = splitRequest(prepared, authorized);
  const merged: JsonObject = {};

  async function callPart(part: Part): Promise<void> {
    const response = await upstream.call(part.request);
    if (!response.success) throwPartError(response, part, authorized);
    const object = parseObject(response.json);
    if (part.name === undefined) Object.assign(merged, { ...object, ...merged });
    else merged[part.name] = object;
  }

  const isRead = ({ request }: Part): boolean => request.method === "GET";
  for (const part of parts.filter((each) => !isRead(each))) {
    await callPart(part).catch((error: unknown) => {
      warnOfWrites(upstream.activity);
      throw error;
    });
  }
  await Promise.all(parts.filter(isRead).map(callPart));
  return { status: 200, success: true, headers: {}, bytes: Buffer.from(printJson(merged)), json: merged };
}
