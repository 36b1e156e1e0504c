/** The translation of a valid body to the upstream. */
import { INVALID_VALUE, type ErrorDetail } from "../errors/http-error.ts";
import { ExpressionError, mapMaybe, type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import { compileScoped, type ScopedExpression } from "../expressions/scope.ts";
import { failureAsValue } from "../expressions/compile-expression.ts";
import { printJson, type SourceLocation } from "../../base/index.ts";
import type { FieldRule } from "../fields/field-definition.ts";
import type { BodyDefinition } from "../schema/resource-definition.ts";
import type { JsonObject, WriteContext } from "../translation-context.ts";
import type { BodyContext, SentMember } from "./body-members.ts";
import { compileAdd, compileAdditions, compileTarget } from "./body-merge.ts";
import { compileChecks } from "../expressions/checks.ts";
import type { FieldContext } from "../fields/field-context.ts";
import { lossText } from "../fields/loss.ts";
import type { WriteFault } from "../fields/keys/invalid-write.ts";
import { putWritten, type SentResult, writeMembers, type WrittenMember } from "../fields/write.ts";
import { UnknownValue } from "../values/value-kind.ts";

/** The translation of an alpha body. */
export interface WrittenBody {
  readonly v4: JsonObject;
  readonly faults: readonly ErrorDetail[];
  /** Names of the v4 members that the gateway added. Errors about them are not reported to the client. */
  readonly added: ReadonlySet<string>;
  /** Whether neither the client nor the gateway sends anything to v4. */
  readonly empty: boolean;
  /** Whether the client sent a member, identified by its alpha name. */
  readonly sent: (member: string) => boolean;
  /**
   * The members whose values v4 does not receive, or receives as different values. Members with `loss_when` are not
   * checked here.
   */
  readonly losses: readonly string[];
}

/** Whether v4 does not receive the value of a member, or receives a value that belongs to a different alpha value. */
function isLostInWrite(
  { values, write }: FieldRule,
  alpha: unknown,
  { kind }: SentResult,
  context: Pick<FieldContext, "values">,
): boolean {
  if (alpha === null || kind === "invalid") return false;
  if (kind === "nothing") return true;
  return write === undefined && context.values.get(values ?? "")?.isLostInWrite?.(alpha) === true;
}

/** The error of a member that can't be translated. */
function describeWriteFault(
  { name }: SentMember,
  { below, cause }: WriteFault,
  unknownRecord: string,
): ErrorDetail {
  const field = name + below;
  if (cause === "unknown id") return { field, reason: unknownRecord, rule: "unknown_record" };
  if (cause instanceof UnknownValue) return { field, reason: cause.reason, rule: "enum" };
  return { field, reason: INVALID_VALUE, cause };
}

/** Adds translated values to an object of the upstream. Returns the errors of values that can't be translated. */
const addWritten = (
  v4: JsonObject,
  written: readonly WrittenMember<SentMember>[],
  unknownRecord: string,
): ErrorDetail[] =>
  putWritten(v4, written).map(({ member, fault }) => describeWriteFault(member, fault, unknownRecord));

/** The member with what the upstream gets of it: nothing of an unchanged one, except in its path. */
function sentOf(
  { member, result }: WrittenMember<SentMember>,
  isInPath: boolean,
): WrittenMember<SentMember, SentResult>[] {
  if (result.kind !== "unchanged") return [{ member, result }];
  return isInPath ? [{ member, result: result.whole }] : [];
}

/** Whether the translation of a member may read values of calls. Fields of a nested object may read them as well. */
const mayReadCalls = ({ rule: { write = "", object } }: SentMember): boolean =>
  object !== undefined || /\$calls\b/.test(write);

/** Finds the losses of members whose value the upstream does not receive, or receives as a different value. */
const findLosses = (
  body: JsonObject,
  sent: readonly WrittenMember<SentMember, SentResult>[],
  context: Pick<FieldContext, "values">,
): string[] =>
  sent.flatMap(({ member: { name, rule, get }, result }) =>
    rule.loss !== undefined && rule.loss_when === undefined && isLostInWrite(rule, get(body), result, context)
      ? (lossText(name, rule) ?? [])
      : [],
  );

/** Creates the test whether clients never receive the object of an id in a member of the upstream's body. */
const hiddenIn =
  (members: readonly SentMember[], { catalogs }: Pick<BodyContext, "catalogs">) =>
  (v4: string): ((id: unknown) => boolean) => {
    const { catalog } = members.find(({ rule }) => rule.upstream === v4)?.rule ?? {};
    return catalogs.get(catalog ?? "")?.isHidden ?? (() => false);
  };

/** Whether an expression over the body may read a member that violates the schema. */
function readsInvalid(
  { inputNames, variables }: Pick<ScopedExpression, "inputNames" | "variables">,
  errors: readonly ErrorDetail[],
): boolean {
  if (errors.length === 0) return false;
  if (inputNames === "all" || variables.has("body")) return true;
  return errors.some(({ field }) => field === undefined || inputNames.has(field.split(/[.[]/)[0] ?? ""));
}

/** Removes repeated errors: those with the same text about the same member. */
function withoutRepeats(errors: readonly ErrorDetail[]): ErrorDetail[] {
  const seen = new Set<string>();
  return errors.filter(({ field, reason }) => {
    const said = printJson([field ?? null, reason]);
    const isNew = !seen.has(said);
    seen.add(said);
    return isNew;
  });
}

/** Members of the upstream's body that are computed from the client's body. */
interface Computed {
  /** Functions that add the members that have a value. */
  readonly puts: ((v4: JsonObject) => void)[];
  readonly faults: ErrorDetail[];
}

/** Compiles the members of `from_body`. */
function compileComputed(
  members: Readonly<Record<string, string>>,
  { errorNames = {} }: Pick<BodyContext, "errorNames">,
  location: SourceLocation,
): (body: JsonObject, writing: WriteContext) => MaybePromise<Computed> {
  const compiled = Object.entries(members).map(([name, source]) => {
    const expression = compileScoped(source, location.at(name), "request");
    if (expression.variables.has("calls"))
      location.at(name).report({ message: "$calls has no value here", hint: 'use "from_calls"' });
    const [read] = expression.inputNames === "all" ? [] : expression.inputNames.keys();
    return { add: compileAdd(name), expression, field: errorNames[name] ?? read };
  });
  return (body, writing) => {
    const scope = { ...writing, body };
    const { schemaErrors = [] } = writing;
    const computable = compiled.filter(({ expression }) => !readsInvalid(expression, schemaErrors));
    const values = mapMaybe(computable, ({ add, expression, field }) =>
      thenMaybe(
        failureAsValue(() => expression.evaluate(body, scope)),
        (value) => ({ add, field, value }),
      ),
    );
    return thenMaybe(values, (found) => {
      const computed: Computed = { puts: [], faults: [] };
      for (const { add, field, value } of found) {
        if (value instanceof ExpressionError)
          computed.faults.push({
            ...(field !== undefined && { field }),
            reason: INVALID_VALUE,
            cause: value,
          });
        else if (value !== undefined) computed.puts.push((v4) => add(v4, value));
      }
      return computed;
    });
  };
}

/** Compiles the translation of a valid object to the upstream. */
export function compileBodyWrite(
  definition: BodyDefinition,
  members: readonly SentMember[],
  context: BodyContext,
  location: SourceLocation,
) {
  const checks = compileChecks(definition.checks ?? [], location.at("checks"), "translated", []);
  const upstreamMembers = members.flatMap(({ rule }) => rule.upstream ?? []);
  const createTarget = compileTarget(definition.merge_with, upstreamMembers);
  const { unknown_record: unknownRecord } = context.dialect.messages;
  const pathMembers = new Set(Object.values(definition.to_path ?? {}));
  /** Whether the upstream receives a member in its path. Such a member is sent even if it is unchanged. */
  const isInPath = ({ rule }: SentMember): boolean => pathMembers.has(rule.upstream ?? "");

  const addGatewayMembers = compileAdditions(
    definition,
    upstreamMembers,
    hiddenIn(members, context),
    context.pathParameters,
  );
  const compute = compileComputed(definition.from_body ?? {}, context, location.at("from_body"));
  const membersIn = (body: JsonObject): SentMember[] => members.filter(({ get }) => get(body) !== undefined);

  /** Drops failures of checks after a member was omitted, because they do not concern the client's value. */
  const withoutFailures = (errors: readonly ErrorDetail[], { schemaErrors = [] }: WriteContext) =>
    schemaErrors.length === 0 ? errors : errors.filter(({ cause }) => cause === undefined);

  /** Returns the errors that are known before any call: those of members and checks that read no values of calls. */
  function findEarlyFaults(body: JsonObject, writing: WriteContext): MaybePromise<readonly ErrorDetail[]> {
    const given = membersIn(body).filter((member) => !mayReadCalls(member));
    return thenMaybe(writeMembers(given, body, writing, writing.change), (written) =>
      thenMaybe(compute(body, writing), (computed) => {
        const faults = addWritten({}, written, unknownRecord);
        return thenMaybe(checks.early({ ...writing, body }), (more) => [
          ...faults,
          ...computed.faults,
          ...withoutFailures(more, writing),
        ]);
      }),
    );
  }

  function write(body: JsonObject, writing: WriteContext): MaybePromise<WrittenBody> {
    const { change } = writing;
    const given = membersIn(body);
    const values = mapMaybe(change ? [change, undefined] : [undefined], (part) =>
      writeMembers(given, body, writing, part),
    );
    return thenMaybe(compute(body, writing), (computed) =>
      thenMaybe(values, ([written = [], whole = []]) => {
        const v4 = createTarget(writing);
        const sent = written.flatMap((each) => sentOf(each, isInPath(each.member)));
        const faults = addWritten(v4, sent, unknownRecord);
        const losses = findLosses(body, sent, context);
        const isEmpty = sent.every(({ result }) => result.kind !== "value");
        const names = new Set(sent.map(({ member }) => member.name));
        const complete: JsonObject = {};
        putWritten(complete, whole);
        for (const put of computed.puts) put(v4);
        const added = addGatewayMembers(v4, complete, writing);
        return thenMaybe(checks.all({ ...writing, body, request: v4 }), (more) => ({
          v4,
          faults: withoutRepeats([...faults, ...computed.faults, ...withoutFailures(more, writing)]),
          empty: isEmpty && added.size === 0 && computed.puts.length === 0,
          added,
          sent: (name: string) => names.has(name),
          losses,
        }));
      }),
    );
  }
  return { write, findEarlyFaults };
}
