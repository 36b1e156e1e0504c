/** Alpha body → v4 body: the name and the value of each v4 member. */
import { isDeepStrictEqual } from "node:util";
import type { SourceLocation } from "../../base/index.ts";
import { ExpressionError, mapMaybe, type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import { compileScoped } from "../expressions/scope.ts";
import { failureAsValue } from "../expressions/compile-expression.ts";
import type { FieldRule } from "./field-definition.ts";
import type { Steps } from "../steps.ts";
import type { Change, JsonObject, WriteContext } from "../translation-context.ts";
import { compileGetter, compileSetter } from "../values/member-paths.ts";
import type { CompileFields, FieldContext } from "./field-context.ts";
import { InvalidWrite, invalidValue, type WriteFault } from "./keys/invalid-write.ts";
import { compileWriteSteps } from "./keys/field-keys.ts";

/**
 * Translates a member of an alpha body to the value of one v4 member. `undefined` is not sent. If there is a change,
 * only the differences of objects and lists are sent, unless an expression translates them as a whole.
 */
type WriteFunction = (
  value: unknown,
  body: JsonObject,
  writing: WriteContext,
  change?: Change<unknown>,
) => MaybePromise<unknown>;

/** What v4 gets of a member. */
export type SentResult =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "nothing" }
  | { readonly kind: "invalid"; readonly faults: readonly WriteFault[] };

/** The result of a write. */
type WriteResult =
  | SentResult
  /** v4's value stays the same. `whole` is what v4 gets where all members are sent. */
  | { readonly kind: "unchanged"; readonly whole: SentResult };

/** A member with the result of its write. */
export interface WrittenMember<Member, Result = WriteResult> {
  readonly member: Member;
  readonly result: Result;
}

function sentResult(written: unknown): SentResult {
  if (written instanceof InvalidWrite) return { kind: "invalid", faults: written.faults };
  return written === undefined ? { kind: "nothing" } : { kind: "value", value: written };
}

interface Writable {
  readonly get: (object: unknown) => unknown;
  readonly write: WriteFunction;
}

/**
 * Translates a member of an object of which only changes are sent. A member that has not changed may be written from
 * others that have: its value is compared with the one that v4 had before.
 */
function writeChange(
  { get, write }: Writable,
  object: JsonObject,
  writing: WriteContext,
  change: Change<JsonObject>,
): MaybePromise<WriteResult> {
  const [value, changed, before] = [get(object), get(change.changed), get(change.before)];
  if (changed !== undefined) return thenMaybe(write(value, object, writing, { changed, before }), sentResult);
  const earlier = { ...writing, body: writing.change?.before };
  return thenMaybe(write(value, object, writing), (written) =>
    thenMaybe(write(before, change.before, earlier), (old) => {
      const whole = sentResult(written);
      return isDeepStrictEqual(written, old) ? { kind: "unchanged", whole } : whole;
    }),
  );
}

/** Translates the members of an object. @param change What is sent of the object. Without it, all members are sent. */
export const writeMembers = <Member extends Writable>(
  members: readonly Member[],
  object: JsonObject,
  writing: WriteContext,
  change: Change<JsonObject> | undefined,
): MaybePromise<WrittenMember<Member>[]> =>
  mapMaybe(members, (member) => {
    const result: MaybePromise<WriteResult> = change
      ? writeChange(member, object, writing, change)
      : thenMaybe(member.write(member.get(object), object, writing), sentResult);
    return thenMaybe(result, (written) => ({ member, result: written }));
  });

/** Stores the values of members in a v4 object. Returns the faults of those that can't be translated. */
export function putWritten<Member extends { readonly putV4: NonNullable<WritableMember["putV4"]> }>(
  v4: JsonObject,
  written: readonly WrittenMember<Member>[],
): { readonly member: Member; readonly fault: WriteFault }[] {
  for (const { member, result } of written) if (result.kind === "value") member.putV4(v4, result.value);
  return written.flatMap(({ member, result }) =>
    result.kind === "invalid" ? result.faults.map((fault) => ({ member, fault })) : [],
  );
}

/** The variables of `write`, in addition to those of the request. */
const WRITE_VARIABLES = ["value", "client", "scopesFor"];

/** A member that bodies may contain, and its translation. */
export interface WritableMember {
  readonly rule: FieldRule;
  readonly write: WriteFunction;
  /** Stores the result of `write` in a v4 object, under v4's name. Undefined if v4 has no such member. */
  readonly putV4: ((v4: JsonObject, value: unknown) => void) | undefined;
}

/** Compiles the write direction, by alpha name. Yields after each field. */
export function* compileWrite(
  ...[rules, context, locationOf]: Parameters<CompileFields<unknown>>
): Steps<ReadonlyMap<string, WritableMember>> {
  const members = new Map<string, WritableMember>();
  for (const [name, rule] of rules) {
    const write = compileFieldWrite(rule, context, locationOf(name));
    const putV4 = rule.upstream === undefined ? undefined : compileSetter(rule.upstream);
    members.set(name, { rule, write, putV4 });
    yield;
  }
  return members;
}

/** The result of a write, or its failure as the fault of the member: the value comes from the client. */
const catchFailure = (write: () => MaybePromise<unknown>): MaybePromise<unknown> =>
  thenMaybe(failureAsValue(write), (written) =>
    written instanceof ExpressionError ? invalidValue(written) : written,
  );

/** Compiles a function that writes a nested object by the rules of its own fields. Members without a rule are not sent. */
export function compileObjectWrite(
  fields: ReadonlyMap<string, WritableMember>,
): (object: JsonObject, writing: WriteContext, change?: Change<JsonObject>) => MaybePromise<unknown> {
  const members = [...fields].flatMap(([name, { rule, write, putV4 }]) =>
    putV4 === undefined || rule.const !== undefined || rule.send === false
      ? []
      : [{ name, get: compileGetter(name), putV4, write }],
  );
  return (object, writing, change) => {
    const given = members.filter(({ get }) => get(object) !== undefined);
    return thenMaybe(writeMembers(given, object, writing, change), (written) => {
      const v4: JsonObject = {};
      const faults = putWritten(v4, written).map(({ member, fault }) => ({
        ...fault,
        below: `.${member.name}${fault.below}`,
      }));
      return faults.length > 0 ? new InvalidWrite(faults) : v4;
    });
  };
}

/**
 * Compiles the write of one field. Null is written as well: body rules have already removed every null that means "not
 * given".
 */
function compileFieldWrite(rule: FieldRule, context: FieldContext, location: SourceLocation): WriteFunction {
  const expression =
    rule.write === undefined
      ? undefined
      : compileScoped(rule.write, location.at("write"), "request", WRITE_VARIABLES);
  const steps = compileWriteSteps(rule, context, location);
  const needsWhole = expression !== undefined || steps.some((step) => step.needsWhole);
  return (whole, body, writing, change) =>
    catchFailure(() => {
      // A list only contains the items that are sent. A translated object contains all its members.
      const value = change && (!needsWhole || Array.isArray(change.changed)) ? change.changed : whole;
      const written = expression
        ? expression.evaluate(body, writing, {
            value,
            client: writing.client,
            scopesFor: context.scopesFor,
          })
        : value;
      return steps.reduce<MaybePromise<unknown>>(
        (given, { run }) =>
          thenMaybe(given, (v4) => (v4 instanceof InvalidWrite ? v4 : run(v4, writing, change))),
        written,
      );
    });
}
