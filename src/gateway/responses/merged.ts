import { isObject, printJson } from "../../base/index.ts";
import type { JsonObject } from "../../pack/index.ts";
import type { AuthorizedRequest, ResponseKind } from "../pipeline/authorized-request.ts";
import { buildUpstreamRequest } from "../pipeline/stages/build-request.ts";
import { throwTranslatedError } from "./translate-error.ts";
import { requestWithoutBody, type PreparedRequest } from "../pipeline/prepared-request.ts";
import { parseObject, type UpstreamResponse } from "../pipeline/upstream-response.ts";
import { translateObject } from "./translate-response.ts";

/** One of the v4 resources that an object is merged from, and its request. */
interface Part {
  /** Undefined for the object itself. */
  readonly name: string | undefined;
  readonly request: PreparedRequest;
}

const hasMembers = (value: unknown): value is JsonObject => isObject(value) && Object.keys(value).length > 0;

/** Parts with members in the body are written; all others are read. */
function splitRequest(prepared: PreparedRequest, { match }: AuthorizedRequest): Part[] {
  const { mergeParts } = match.route;
  const { values } = prepared;
  const { body: object, ...call } = prepared;
  const body = isObject(object) ? object : {};
  const names = new Set(mergeParts.map(({ name }) => name));
  const ownMembers = Object.fromEntries(Object.entries(body).filter(([name]) => !names.has(name)));
  const main: PreparedRequest = hasMembers(ownMembers)
    ? { ...call, body: ownMembers }
    : { ...call, method: "GET" };
  const others = mergeParts.map(({ name, read, write }): Part => {
    const members = body[name];
    if (!hasMembers(members)) return { name, request: requestWithoutBody(read, values) };
    const request = { ...call, ...requestWithoutBody(write, values), body: members };
    return { name, request };
  });
  return [{ name: undefined, request: main }, ...others];
}

/** Errors of a part name its members as members of the object. */
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
 * Calls v4 for each part: first the writes, one after the other, then the reads, at once.
 *
 * @throws {HttpError} v4's error of any part, though an earlier one may have been written
 */
async function callParts(
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): Promise<UpstreamResponse> {
  const { report, upstream } = authorized;
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
  let hasWritten = false;
  for (const part of parts.filter((each) => !isRead(each))) {
    await callPart(part).catch((error: unknown) => {
      if (hasWritten) report.warnings.push("what was written before has taken effect");
      throw error;
    });
    hasWritten = true;
  }
  await Promise.all(parts.filter(isRead).map(callPart));
  for (const loss of prepared.losses ?? []) report.losses.add(loss);
  const bytes = Buffer.from(printJson(merged));
  const response = { status: 200, success: true, headers: {}, bytes, json: merged };
  if (authorized.match.route.headers) report.upstreamHead = response;
  return response;
}

/** An object that v4 has as several resources. */
export const mergedKind: ResponseKind<UpstreamResponse> = {
  async buildRequest(authorized) {
    const prepared = await buildUpstreamRequest(authorized);
    const parts = splitRequest(prepared, authorized);
    const equivalent = parts.map(({ request }) => `${request.method} ${request.path}`).join(", ");
    return { ...prepared, equivalent };
  },
  callUpstream: callParts,
  buildResponse(response, { alpha: sentBody }, authorized) {
    const { match, services, report } = authorized;
    const reading = {
      client: authorized,
      catalogs: services.catalogs,
      related: {},
      response,
      sentBody,
      lost: report.losses,
    };
    return translateObject(response, match.route, reading);
  },
};
