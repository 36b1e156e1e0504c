import { isObject, parseJson } from "../../dialect/json/parse.ts";
import type { ErrorDetail } from "../../dialect/http-error.ts";
import type { FieldRule } from "../schema/definition.ts";
import { compileCopy, compileGetter, compileRemover } from "./member-paths.ts";
import type { JsonObject } from "../translation-context.ts";

/** Of JSON that stands in a text. */
const AS_TEXT = { maxDepth: 32, maxValues: 5000 };

/** What reading the forms of a member takes. */
export interface FormMember {
  readonly name: string;
  readonly get: (body: unknown) => unknown;
  readonly put: (body: JsonObject, value: unknown) => void;
  readonly rule: FieldRule;
}

/**
 * Takes a member under another spelling where the documented one is not given, null too: where null is a value,
 * it is one under every spelling.
 */
function compileSpellings(members: readonly FormMember[]): (body: JsonObject) => void {
  const spellings = members.flatMap(({ get, put, rule }) =>
    (rule.also ?? []).map((spelling) => ({
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

/** A whole object stands for its id. */
const idOf = (value: unknown, reference: string): unknown =>
  isObject(value) && Object.hasOwn(value, reference) ? value[reference] : value;

function readForm(member: FormMember, value: unknown, reference: string): { value: unknown } | ErrorDetail {
  const { accepts = [] } = member.rule;
  if (accepts.includes("reference")) {
    if (Array.isArray(value)) return { value: value.map((each) => idOf(each, reference)) };
    return { value: idOf(value, reference) };
  }
  if (!accepts.includes("json") || typeof value !== "string") return { value };
  try {
    return { value: parseJson(value, AS_TEXT) };
  } catch {
    return { field: member.name, reason: "Must be an object, or one as JSON text." };
  }
}

/** Prepares bringing the spellings and forms that clients send to the documented ones. The body handed in is left as it is. */
export function compileForms(
  members: readonly FormMember[],
  reference: string,
): (sent: JsonObject) => { readonly body: JsonObject; readonly faults: readonly ErrorDetail[] } {
  const copy = compileCopy(members.flatMap(({ name, rule }) => [name, ...(rule.also ?? [])]));
  const foldSpellings = compileSpellings(members);
  return (sent) => {
    const faults: ErrorDetail[] = [];
    const body = copy(sent);
    foldSpellings(body);
    for (const member of members) {
      const value = member.get(body);
      if (value === undefined || value === null) continue;
      const form = readForm(member, value, reference);
      if ("reason" in form) faults.push(form);
      else member.put(body, form.value);
    }
    return { body, faults };
  };
}
