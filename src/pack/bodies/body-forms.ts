import { isObject, parseJson } from "../../base/index.ts";
import type { ErrorDetail } from "../errors/http-error.ts";
import type { FieldRule } from "../fields/field-definition.ts";
import { compileCopy, compileGetter, compileRemover, compileSetter } from "../values/member-paths.ts";
import type { JsonObject } from "../translation-context.ts";

/** Limits for JSON that a client sends inside a string. */
const AS_TEXT = { maxDepth: 32, maxValues: 5000, maxNameLength: 1000 };

/** The part of a body member that is needed to read its forms. */
export interface FormMember {
  readonly name: string;
  readonly get: (body: unknown) => unknown;
  readonly put: (body: JsonObject, value: unknown) => void;
  readonly rule: FieldRule;
}

/**
 * Compiles a function that renames aliases of members to the documented names. An alias is ignored if the documented name
 * has a value. Null counts as a value of an alias, since null may be valid for the member.
 */
function compileSpellings(members: readonly FormMember[]): (body: JsonObject) => void {
  const spellings = members.flatMap(({ get, put, rule }) =>
    (rule.aliases ?? []).map((spelling) => ({
      get,
      put,
      getSpelling: compileGetter(spelling),
      removeSpelling: compileRemover(spelling),
    })),
  );
  return (body) => {
    for (const { get, put, getSpelling, removeSpelling } of spellings) {
      const value = getSpelling(body);
      if (value === undefined) continue;
      removeSpelling(body);
      if ((get(body) ?? null) === null) put(body, value);
    }
  };
}

/** Returns the id if a client sends a whole object instead of an id. */
const idOf = (value: unknown, reference: string): unknown =>
  isObject(value) && Object.hasOwn(value, reference) ? value[reference] : value;

/**
 * Compiles a function that converts the object of a response to the form of a body: ids replace objects, even in nested
 * objects. The function does not change its argument.
 *
 * @param fieldsOf Returns the rules of a nested object
 */
export function compileBodyForm(
  rules: readonly { readonly name: string; readonly rule: FieldRule }[],
  reference: string,
  fieldsOf: (object: string) => Readonly<Record<string, FieldRule>> | undefined,
): (shown: JsonObject) => JsonObject {
  const nested = new Map<string, (shown: JsonObject) => JsonObject>();
  // Compiled on first use, because objects may contain each other.
  function formOf(object: string): (shown: JsonObject) => JsonObject {
    const fields = Object.entries(fieldsOf(object) ?? {}).map(([name, rule]) => ({ name, rule }));
    const form = nested.get(object) ?? compileBodyForm(fields, reference, fieldsOf);
    nested.set(object, form);
    return form;
  }
  const copy = compileCopy(rules.map(({ name }) => name));
  const members = rules.flatMap(({ name, rule: { accepts, catalog, object } }) => {
    const isReference = catalog !== undefined || accepts?.includes("object");
    if (!isReference && object === undefined) return [];
    const one = (value: unknown): unknown => {
      if (isReference) return idOf(value, reference);
      return isObject(value) ? formOf(object ?? "")(value) : value;
    };
    return [{ get: compileGetter(name), put: compileSetter(name), one }];
  });
  return (shown) => {
    const body = copy(shown);
    for (const { get, put, one } of members) {
      const value = get(body);
      if (value !== undefined) put(body, Array.isArray(value) ? value.map(one) : one(value));
    }
    return body;
  };
}

/**
 * Compiles the rule for members that are ids. After {@link compileForms}, a remaining object instead of an id has no
 * id, which is an error. A member that is an object of a resource may be a new object.
 */
export function compileIdCheck(
  members: readonly FormMember[],
  reference: string,
): (body: JsonObject) => ErrorDetail[] {
  const reason = `Must be an id, or an object with "${reference}".`;
  const references = members.filter(
    ({ rule: { accepts, object } }) => object === undefined && accepts?.includes("object"),
  );
  return (body) =>
    references
      .filter(({ get }) => [get(body)].flat().some(isObject))
      .map(({ name }) => ({ field: name, reason, rule: "type" }));
}

function readAcceptedForm(
  member: FormMember,
  value: unknown,
  reference: string,
): { value: unknown } | ErrorDetail {
  const { accepts = [] } = member.rule;
  if (accepts.includes("object")) {
    if (Array.isArray(value)) return { value: value.map((each) => idOf(each, reference)) };
    return { value: idOf(value, reference) };
  }
  if (!accepts.includes("json") || typeof value !== "string") return { value };
  try {
    return { value: parseJson(value, AS_TEXT) };
  } catch {
    return { field: member.name, reason: "Must be an object, or one as JSON text.", rule: "type" };
  }
}

/**
 * Compiles a function that converts the aliases and forms that clients send to the documented ones. The function does
 * not change its argument.
 */
export function compileForms(
  members: readonly FormMember[],
  reference: string,
): (sent: JsonObject) => { readonly body: JsonObject; readonly faults: readonly ErrorDetail[] } {
  const copy = compileCopy(members.flatMap(({ name, rule }) => [name, ...(rule.aliases ?? [])]));
  const foldSpellings = compileSpellings(members);
  return (sent) => {
    const faults: ErrorDetail[] = [];
    const body = copy(sent);
    foldSpellings(body);
    for (const member of members) {
      const value = member.get(body);
      if (value === undefined || value === null) continue;
      const form = readAcceptedForm(member, value, reference);
      if ("reason" in form) faults.push(form);
      else member.put(body, form.value);
    }
    return { body, faults };
  };
}
