/** Alpha body → v4 body: the value of each v4 member. */
import { isDeepStrictEqual } from "node:util";
import { isObject, resolveReference, type SourceLocation } from "../../base/index.ts";
import { ExpressionError, mapMaybe, type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import { compileExpressionAt, evaluateFor, failureAsValue } from "../load/compile-expression.ts";
import type { FieldRule } from "./field-definition.ts";
import type { Steps } from "../steps.ts";
import type { Change, JsonObject, WriteContext } from "../translation-context.ts";
import { compileGetter, compileSetter } from "./member-paths.ts";
import { applyValueKind, UnknownValue } from "./value-kinds.ts";
import type { CompileFields, FieldContext } from "./field-context.ts";

/**
 * Translates a member of an alpha body to the value of one v4 member. `undefined` is not sent. With a change, only what
 * differs is sent of objects and lists that no expression translates as a whole.
 */
export type WriteFunction = (
  value: unknown,
  body: JsonObject,
  writing: WriteContext,
  change?: Change<unknown>,
) => MaybePromise<unknown>;

/** The result of a write for a member whose v4 value stays the same. */
export const UNCHANGED = Symbol("unchanged");

/**
 * Translates members that an object has.
 *
 * @param change What is sent of the object. A member that has not changed may be written from others that have: its value is
 *   compared with the one that v4 had before. Without it, all members are sent.
 */
export function writeMembers(
  members: readonly { readonly get: (object: unknown) => unknown; readonly write: WriteFunction }[],
  object: JsonObject,
  writing: WriteContext,
  change: Change<JsonObject> | undefined,
): MaybePromise<unknown[]> {
  if (!change) return mapMaybe(members, ({ get, write }) => write(get(object), object, writing));
  const earlier = { ...writing, body: writing.change?.before };
  return mapMaybe(members, ({ get, write }) => {
    const [value, changed, before] = [get(object), get(change.changed), get(change.before)];
    if (changed !== undefined) return write(value, object, writing, { changed, before });
    return thenMaybe(write(value, object, writing), (written) =>
      thenMaybe(write(before, change.before, earlier), (old) =>
        isDeepStrictEqual(written, old) ? UNCHANGED : written,
      ),
    );
  });
}

/** Why a member can't be translated. */
export interface WriteFault {
  /** The dotted path below the member; empty for the member itself. */
  readonly below: string;
  /** An id that the catalog does not have, a value that the table does not have, or the expression that failed. */
  readonly cause: "unknown id" | UnknownValue | ExpressionError;
}

/** The result of a write for a value that can't be translated. */
export class InvalidWrite {
  readonly faults: readonly WriteFault[];

  constructor(faults: readonly WriteFault[]) {
    this.faults = faults;
  }
}

const UNKNOWN_ID = new InvalidWrite([{ below: "", cause: "unknown id" }]);

const WRITE_VARIABLES = ["value", "values", "prerequisites", "path", "client", "scopesFor", "body"];

/** Compiles the write direction: one function per field, by alpha name. Yields after each. */
export function* compileWrite(
  ...[rules, context, locationOf]: Parameters<CompileFields<unknown>>
): Steps<ReadonlyMap<string, WriteFunction>> {
  const writes = new Map<string, WriteFunction>();
  for (const [name, rule] of rules) {
    writes.set(name, compileFieldWrite(rule, context, locationOf(name)));
    yield;
  }
  return writes;
}

/** The result of a write, or its failure as the fault of the member: the value comes from the client. */
const catchFailure = (write: () => MaybePromise<unknown>): MaybePromise<unknown> =>
  thenMaybe(failureAsValue(write), (written) =>
    written instanceof ExpressionError ? new InvalidWrite([{ below: "", cause: written }]) : written,
  );

/** Merges the translated items of a list. */
const listOrFaults = (items: readonly unknown[]): unknown => {
  const faults = items.flatMap((item) => (item instanceof InvalidWrite ? item.faults : []));
  return faults.length > 0 ? new InvalidWrite(faults) : items;
};

/** Compiles a function that writes a nested object by the rules of its own fields. Other members are not sent. */
export function compileObjectWrite(
  fields: ReadonlyMap<string, { readonly rule: FieldRule; readonly write: WriteFunction }>,
): (object: JsonObject, writing: WriteContext, change?: Change<JsonObject>) => MaybePromise<unknown> {
  const members = [...fields].flatMap(([name, { rule, write }]) =>
    rule.upstream === undefined || rule.const !== undefined || rule.send === false
      ? []
      : [{ name, get: compileGetter(name), put: compileSetter(rule.upstream), write }],
  );
  return (object, writing, change) => {
    const given = members.filter(({ get }) => get(object) !== undefined);
    return thenMaybe(writeMembers(given, object, writing, change), (values) => {
      const v4: JsonObject = {};
      const faults: WriteFault[] = [];
      given.forEach(({ name, put }, index) => {
        const value = values[index];
        if (value instanceof InvalidWrite)
          faults.push(...value.faults.map((fault) => ({ ...fault, below: `.${name}${fault.below}` })));
        else if (value !== undefined && value !== UNCHANGED) put(v4, value);
      });
      return faults.length > 0 ? new InvalidWrite(faults) : v4;
    });
  };
}

/** A member that is null is written, too: body rules have dropped every null that means "not given". */
function compileFieldWrite(rule: FieldRule, context: FieldContext, location: SourceLocation): WriteFunction {
  const resolve = <T>(key: "values" | "catalog" | "object", kind: string, among: ReadonlyMap<string, T>) =>
    rule[key] === undefined ? undefined : resolveReference(location.at(key), kind, rule[key], among);
  const kind = resolve("values", "value kind", context.values);
  const catalog = resolve("catalog", "catalog", context.catalogs);
  const isKnownObject = resolve("object", "object", context.resources) !== undefined;
  const { object = "", write: source } = rule;
  const { origin } = location;
  const expression =
    source === undefined
      ? undefined
      : compileExpressionAt(location.at("write"), source, WRITE_VARIABLES, context.values);
  const convert = kind && applyValueKind(kind.write, rule.arguments ?? {});
  const idOf = (value: unknown, { catalogs }: WriteContext): unknown =>
    catalog && typeof value === "string" ? (catalog.v4Id(value, catalogs) ?? UNKNOWN_ID) : value;
  const toId = (value: unknown, writing: WriteContext): unknown =>
    catalog && Array.isArray(value)
      ? listOrFaults(value.map((each) => idOf(each, writing)))
      : idOf(value, writing);
  // The result of an expression is v4's own object.
  const isNested = isKnownObject && !expression;
  const toObject = (
    value: unknown,
    writing: WriteContext,
    { changed, before }: Partial<Change<unknown>> = {},
  ): MaybePromise<unknown> => {
    if (!isNested) return value;
    const change = isObject(changed) && isObject(before) ? { changed, before } : undefined;
    if (isObject(value)) return context.objectWrites.get(object)?.(value, writing, change);
    if (!Array.isArray(value)) return value;
    return thenMaybe(
      mapMaybe(value, (each: unknown) => toObject(each, writing)),
      listOrFaults,
    );
  };
  const isWhole = expression !== undefined || convert !== undefined || isNested;
  return (whole, body, writing, change) =>
    catchFailure(() => {
      const { prerequisites, path, client } = writing;
      // A list has only the items that are sent. An object that is translated has all its members.
      const value = change && (!isWhole || Array.isArray(change.changed)) ? change.changed : whole;
      const written = expression
        ? expression.evaluate(body, {
            value,
            values: context.lookup,
            prerequisites,
            path,
            client,
            scopesFor: context.scopesFor,
            body: writing.body,
          })
        : value;
      const converted = convert ? evaluateFor(origin, () => convert(written)) : written;
      return thenMaybe(converted, (v4) =>
        v4 instanceof UnknownValue
          ? new InvalidWrite([{ below: "", cause: v4 }])
          : toObject(toId(v4, writing), writing, convert ? undefined : change),
      );
    });
}
