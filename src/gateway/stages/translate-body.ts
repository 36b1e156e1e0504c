/**
 * Translates an alpha body to v4's body. The body is checked first, and all its errors are in one response. Its rules
 * and values may depend on the calls before the main call.
 */
import { isDeepStrictEqual } from "node:util";
import {
  type BodyMember,
  type BodyRules,
  changedMembers,
  compileCopy,
  compileGetter,
  compileRemover,
  type ErrorDetail,
  type JsonObject,
  type Route,
  ValidationError,
  withFailure,
  type WriteContext,
  type WrittenBody,
} from "../../pack/index.ts";
import { isObject, parseJson } from "../../base/index.ts";
import { mapMaybe } from "../../jsonata/index.ts";
import type { AuthorizedRequest } from "../request/authorized-request.ts";
import { translateObject } from "../calls/translate-response.ts";
import { throwTranslatedError } from "../calls/translate-error.ts";
import { requestWithoutBody, type PreparedRequest } from "../calls/prepared-request.ts";
import { earlyScope, readingOf } from "../calls/request-scope.ts";
import { callBefore } from "./call-before.ts";

/** Reads the current response to a GET of the same object. Undefined if v4 does not return it. */
type FetchCurrent = ((mode?: "must succeed") => Promise<JsonObject | undefined>) | undefined;

/** @param route the client's route that reads the object */
export function createFetchCurrent(route: Route | undefined, authorized: AuthorizedRequest): FetchCurrent {
  if (!route || !("call" in route.source)) return undefined;
  const endpoint = route.source.call;
  const { match, upstream } = authorized;
  let current: JsonObject | undefined;
  return async (mode) => {
    if (current) return current;
    const prepared = requestWithoutBody(endpoint, match.parameters);
    const response = await upstream.call(prepared);
    if (!response.success && mode === "must succeed")
      throwTranslatedError(response, route, prepared, authorized);
    if (!response.success) return undefined;
    const reading = { ...readingOf({ response, calls: {} }, prepared, authorized), lost: undefined };
    const json = await translateObject(response, route, reading);
    current = parseJson(json) as JsonObject;
    return current;
  };
}

/** A translated body, with the inputs of its translation. */
interface TranslatedBody extends Omit<WrittenBody, "v4"> {
  readonly v4: JsonObject | readonly JsonObject[];
  /** The alpha body, in its documented form. */
  readonly alpha: JsonObject | readonly unknown[];
  /** Values of the calls before the main call. */
  readonly calls: Readonly<Record<string, unknown>>;
  /** The version of the object that the main call changes. */
  readonly version: Pick<PreparedRequest, "headers" | "madeTag">;
}

/** Returns a body without its invalid members, so that the rest can still be checked. */
function removeInvalid(body: JsonObject, errors: readonly ErrorDetail[], rules: BodyRules): JsonObject {
  const members = errors.map(({ field = "" }) => ({ field, member: rules.memberOf(field) }));
  const rest = compileCopy(members.map(({ field, member }) => member?.name ?? field))(body);
  for (const { field, member } of members) (member?.remove ?? compileRemover(field))(rest);
  return rest;
}

/**
 * Removes invalid members whose values are the current ones. Clients send whole objects back: v4's object may contain
 * values that alpha's rules do not allow (T-2.6), and members that are read-only in alpha. v4 is only called if there
 * are such members.
 */
async function removeUnchanged(
  body: JsonObject,
  errors: readonly ErrorDetail[],
  rules: BodyRules,
  fetchCurrent: FetchCurrent,
): Promise<JsonObject> {
  const shown = await fetchCurrent?.();
  if (!shown) return body;
  const current = [rules.asBody(shown), shown];
  const results = new Map<string, boolean>();
  function isUnchanged(name: string, get: BodyMember["get"]): boolean {
    const value = get(body);
    const isSame = () => value !== undefined && current.some((each) => isDeepStrictEqual(value, get(each)));
    const result = results.get(name) ?? isSame();
    results.set(name, result);
    return result;
  }
  for (const { field = "", rule } of errors) {
    const member = rules.memberOf(field);
    const isMemberUnchanged = member !== undefined && isUnchanged(member.name, member.get);
    // In a changed member, a read-only part may still have its current value.
    if (!isMemberUnchanged && rule === "unknown") isUnchanged(field, compileGetter(field));
  }
  const unchanged = [...results].flatMap(([name, isSame]) => (isSame ? [name] : []));
  const rest = compileCopy(unchanged)(body);
  for (const name of unchanged) compileRemover(name)(rest);
  return rest;
}

/** Translates the items of a list. @throws {HttpError} 400 with all errors, in alpha's names */
export async function translateItems(
  sent: readonly unknown[],
  isForm: boolean,
  rules: BodyRules,
  authorized: AuthorizedRequest,
): Promise<TranslatedBody> {
  const { match, request, services } = authorized;
  const normal = sent.map((item) =>
    isObject(item) ? rules.normalise(item, isForm) : { body: item, faults: [] },
  );
  const items = normal.map(({ body }) => body);
  const errors = [...normal.flatMap(({ faults }) => faults), ...rules.check(items)];
  if (errors.length > 0) throw new ValidationError(errors);
  const writing = {
    ...earlyScope(authorized, items),
    catalogs: services.catalogs,
    path: match.parameters,
    client: request.address,
  };
  const written = await mapMaybe(items, (item) => rules.write(item as JsonObject, writing));
  const faults = withFailure(
    written.flatMap((item) => item.faults),
    match.route.checkFailure,
  );
  if (faults.length > 0) throw new ValidationError(faults);
  return {
    v4: written.map(({ v4 }) => v4),
    faults: [],
    added: new Set(written.flatMap(({ added }) => [...added])),
    empty: false,
    sent: (member) => written.some((item) => item.sent(member)),
    alpha: items,
    calls: {},
    version: {},
    losses: written.flatMap(({ losses }) => losses),
  };
}

/** Returns the translation of a body that sends nothing. */
const nothingOf = (alpha: JsonObject): TranslatedBody => ({
  v4: {},
  faults: [],
  added: new Set(),
  empty: true,
  sent: () => false,
  alpha,
  calls: {},
  version: {},
  losses: [],
});

/** Translates an alpha body. @throws {HttpError} 400 with all errors, in alpha's names */
export async function translateBody(
  sent: JsonObject,
  isForm: boolean,
  rules: BodyRules,
  authorized: AuthorizedRequest,
  fetchCurrent: FetchCurrent,
): Promise<TranslatedBody> {
  const { match, request, services } = authorized;
  const normal = rules.normalise(sent, isForm);
  const unreadable = new Set(normal.faults.map(({ field }) => field));
  // A member that can't be read is only reported once, without a second error about its type.
  const check = (body: JsonObject): ErrorDetail[] => [
    ...normal.faults,
    ...rules.check(body).filter(({ field }) => !unreadable.has(field)),
  ];
  let { body } = normal;
  let errors = check(body);
  if (errors.length > 0 && fetchCurrent) {
    body = await removeUnchanged(body, errors, rules, fetchCurrent);
    errors = check(body);
  }
  const valid = errors.length > 0 ? removeInvalid(body, errors, rules) : body;
  const { onlyChanges } = match.route;
  let change: WriteContext["change"];
  if (onlyChanges && errors.length === 0) {
    const current = await fetchCurrent?.("must succeed");
    change = changedMembers(
      valid,
      current && rules.asBody(current),
      onlyChanges === "items" ? services.pack.dialect.client.id : undefined,
    );
    if (rules.added.length === 0 && Object.keys(change.changed).length === 0) return nothingOf(valid);
  }
  const writing: WriteContext = {
    ...earlyScope(authorized, valid),
    catalogs: services.catalogs,
    path: match.parameters,
    client: request.address,
    schemaErrors: errors,
    change,
  };
  const findFaults = () => rules.findEarlyFaults(valid, writing);
  const earlier = await callBefore({ body: valid, errors, findFaults }, authorized);
  const isInvalid = errors.length > 0 || earlier.hasErrors;
  const written = await rules.write(valid, { ...writing, calls: earlier.values, isInvalid });
  errors = [...errors, ...withFailure(written.faults, match.route.checkFailure), ...earlier.errors];
  const reported = new Set(errors.map(({ field }) => field));
  // Invalid members were removed: rules about missing members do not apply to them.
  const failed = await earlier.check(written.v4);
  errors.push(...failed.filter(({ field }) => field === undefined || !reported.has(field)));
  if (errors.length > 0) throw new ValidationError(errors);
  return { ...written, alpha: valid, calls: earlier.values, version: earlier.version };
}
