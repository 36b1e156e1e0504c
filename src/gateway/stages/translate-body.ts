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
import { readingOf, writingOf } from "../calls/request-scope.ts";
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
  const normal = sent.map((item) =>
    isObject(item) ? rules.normalise(item, isForm) : { body: item, faults: [] },
  );
  const items = normal.map(({ body }) => body);
  const errors = [...normal.flatMap(({ faults }) => faults), ...rules.check(items)];
  if (errors.length > 0) throw new ValidationError(errors);
  const writing = writingOf(authorized, items);
  const written = await mapMaybe(items, (item) => rules.write(item as JsonObject, writing));
  const faults = withFailure(
    written.flatMap((item) => item.faults),
    authorized.match.route.checkFailure,
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
  const valid = await validate(rules.normalise(sent, isForm), rules, fetchCurrent);
  const change =
    valid.errors.length === 0 ? await diff(valid.value, rules, authorized, fetchCurrent) : undefined;
  if (change && rules.added.length === 0 && Object.keys(change.changed).length === 0)
    return nothingOf(valid.value);
  const { value, errors } = await write(valid, change, rules, authorized);
  if (errors.length > 0) throw new ValidationError(errors);
  return value;
}

/** The result of a step, and the errors of the body that are known after it. */
interface Checked<Value> {
  readonly value: Value;
  readonly errors: readonly ErrorDetail[];
}

/** Checks a body by its schema. @returns the body without its invalid members, and the errors of these */
async function validate(
  { body, faults }: ReturnType<BodyRules["normalise"]>,
  rules: BodyRules,
  fetchCurrent: FetchCurrent,
): Promise<Checked<JsonObject>> {
  const unreadable = new Set(faults.map(({ field }) => field));
  // A member that can't be read is only reported once, without a second error about its type.
  const check = (checked: JsonObject): readonly ErrorDetail[] => [
    ...faults,
    ...rules.check(checked).filter(({ field }) => !unreadable.has(field)),
  ];
  const found = check(body);
  if (found.length === 0) return { value: body, errors: found };
  const changed = fetchCurrent ? await removeUnchanged(body, found, rules, fetchCurrent) : body;
  const errors = changed === body ? found : check(changed);
  return { value: errors.length > 0 ? removeInvalid(changed, errors, rules) : changed, errors };
}

/** The changes that a body makes, on a route that sends only these. Undefined: the whole body is sent. */
async function diff(
  body: JsonObject,
  rules: BodyRules,
  { match, services }: AuthorizedRequest,
  fetchCurrent: FetchCurrent,
): Promise<WriteContext["change"]> {
  const { onlyChanges } = match.route;
  if (!onlyChanges) return undefined;
  const current = await fetchCurrent?.("must succeed");
  const idMember = onlyChanges === "items" ? services.pack.dialect.client.id : undefined;
  return changedMembers(body, current && rules.asBody(current), idMember);
}

/** Makes the calls before the main call, and writes the v4 body. Errors are in the order of their steps. */
async function write(
  { value: body, errors: schemaErrors }: Checked<JsonObject>,
  change: WriteContext["change"],
  rules: BodyRules,
  authorized: AuthorizedRequest,
): Promise<Checked<TranslatedBody>> {
  const writing: WriteContext = { ...writingOf(authorized, body), schemaErrors, change };
  const findFaults = () => rules.findEarlyFaults(body, writing);
  const earlier = await callBefore({ body, errors: schemaErrors, findFaults }, authorized);
  const isInvalid = schemaErrors.length > 0 || earlier.hasErrors;
  const written = await rules.write(body, { ...writing, calls: earlier.values, isInvalid });
  const faults = withFailure(written.faults, authorized.match.route.checkFailure);
  const errors = [...schemaErrors, ...faults, ...earlier.errors];
  const reported = new Set(errors.map(({ field }) => field));
  // Invalid members were removed: rules about missing members do not apply to them.
  const late = (await earlier.check(written.v4)).filter(
    ({ field }) => field === undefined || !reported.has(field),
  );
  return {
    value: { ...written, alpha: body, calls: earlier.values, version: earlier.version },
    errors: [...errors, ...late],
  };
}
