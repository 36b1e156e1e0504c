/** Values of the client's requests that are passed to the upstream: as headers, in the query, in paths, and in the body. */
import type { SourceLocation } from "../../base/index.ts";
import { HttpError, INVALID_VALUE, ValidationError } from "../errors/http-error.ts";
import { ExpressionError } from "../../jsonata/index.ts";
import type { RequestHeaderDefinition } from "./headers-definition.ts";
import type { Phase } from "../expressions/scope.ts";
import type { JsonObject, Scope } from "../translation-context.ts";
import { compileHeaderExpression, toHeaderText } from "./header-expression.ts";
import { isText } from "../paths/router.ts";
import { compileCopy, compileSetter } from "../values/member-paths.ts";

/** All lines of each header by its lower-case name. */
type HeaderLines = Readonly<Record<string, readonly string[] | undefined>>;

type Definitions = Readonly<Record<string, RequestHeaderDefinition>>;

/** The sources of the values of a request. */
export interface SentRequest {
  readonly headers: HeaderLines;
  /** The variables for expressions. @throws {HttpError} if a body can't be read */
  readonly scope: () => Scope;
}

/** Headers that can cause a 304 response. */
export const CONDITIONAL: ReadonlySet<string> = new Set(["if-none-match", "if-modified-since"]);

/** Matches a value of a request header. */
const SENDABLE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

/** Returns the only line of a header. @throws {HttpError} 400 for a header that occurs twice */
function lineOf(sent: HeaderLines, name: string): string | undefined {
  const [value, ...others] = sent[name.toLowerCase()] ?? [];
  if (others.length > 0) throw new HttpError(400, `There is more than one ${name} header.`);
  return value === "" ? undefined : value;
}

const missing = (name: string): HttpError =>
  new HttpError(400, [{ field: name, reason: `The ${name} header is required.`, rule: "required_header" }]);

/** Returns either the rules of headers that stay unchanged, or those of values that are computed or moved. */
const rulesOf = (definitions: Definitions, areWritten: boolean) =>
  Object.entries(definitions)
    .filter(
      ([, { write, query, member, path }]) =>
        [write, query, member, path].some((key) => key !== undefined) === areWritten,
    )
    .map(([name, rule]) => ({ name, target: (rule.upstream ?? name).toLowerCase(), ...rule }));

/** Compiles the headers that stay unchanged. @param isSent whether a header with this name is sent to the upstream */
export function compilePassedHeaders(
  definitions: Definitions,
  isSent: (target: string) => boolean,
): ((sent: HeaderLines, mayBeCurrent: boolean) => Readonly<Record<string, string>>) | undefined {
  const rules = rulesOf(definitions, false);
  if (rules.length === 0) return undefined;
  return (sent, mayBeCurrent) => {
    const headers: Record<string, string> = {};
    for (const { name, target, required, default: standard } of rules) {
      const value = lineOf(sent, name) ?? standard;
      if (!isSent(target) || (!mayBeCurrent && CONDITIONAL.has(target))) continue;
      if (value !== undefined) headers[target] = value;
      else if (required) throw missing(name);
    }
    return headers;
  };
}

/** Compiles the function that returns the value of a rule. @throws {HttpError} 400 for a missing or invalid value */
function compileValue(
  { name, path, write, required, default: standard }: ReturnType<typeof rulesOf>[number],
  location: SourceLocation,
  phase: Phase,
): (sent: SentRequest) => string | undefined {
  const own = { value: (line: string | undefined) => line };
  const evaluate = write === undefined ? undefined : compileHeaderExpression(write, own, location, phase);
  function read(sent: SentRequest): string | undefined {
    const line = lineOf(sent.headers, name);
    if (!evaluate) return line;
    const scope = sent.scope();
    try {
      return toHeaderText(evaluate(scope.body, scope, line));
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      throw new ValidationError([{ field: name, reason: INVALID_VALUE, cause: error }]);
    }
  }
  return (sent) => {
    const text = read(sent) || standard;
    if (text === undefined && required) throw missing(name);
    if (text !== undefined && (!SENDABLE.test(text) || (path !== undefined && !isText(text))))
      throw new ValidationError([{ field: name, reason: INVALID_VALUE }]);
    return text;
  };
}

/**
 * Compiles the values that are computed from other values, or moved to a different location for the upstream. @param
 * locate finds an expression
 */
export function compileWrittenValues(
  definitions: Definitions,
  locate: (name: string) => SourceLocation,
  phase: Phase,
) {
  const rules = rulesOf(definitions, true).map((rule) => ({
    rule,
    valueOf: compileValue(rule, locate(rule.name), phase),
    set: rule.member === undefined ? undefined : compileSetter(rule.member),
  }));
  if (rules.length === 0) return undefined;
  const copy = compileCopy(rules.flatMap(({ rule }) => rule.member ?? []));
  return (sent: SentRequest) => {
    const headers: Record<string, string> = {};
    const query = new URLSearchParams();
    const path: Record<string, string> = {};
    const members: string[] = [];
    const setters: ((body: JsonObject) => void)[] = [];
    for (const { rule, valueOf, set } of rules) {
      const value = valueOf(sent);
      if (value === undefined) continue;
      if (set) {
        members.push(rule.member?.split(".")[0] ?? "");
        setters.push((body) => set(body, value));
      } else if (rule.query !== undefined) query.append(rule.query, value);
      else if (rule.path !== undefined) path[rule.path] = value;
      else headers[rule.target] = value;
    }
    return {
      /** Headers by lower-case name. */
      headers: headers as Readonly<Record<string, string>>,
      /** The parameters of the query, as text. */
      query: query.toString(),
      /** The values of the upstream's paths, by their names in braces. */
      path: path as Readonly<Record<string, string>>,
      /** The top-level members that are set in the body. */
      members,
      /** Adds the members that have values to a body. */
      withMembers(body: JsonObject): JsonObject {
        const copied = copy(body);
        for (const set of setters) set(copied);
        return copied;
      },
    };
  };
}

/** Compiles the headers of all calls of a request; undefined if missing. */
export function compileCommonHeaders(
  definitions: Definitions,
  locate: (name: string) => SourceLocation,
): ((sent: SentRequest) => Readonly<Record<string, string>>) | undefined {
  const pass = compilePassedHeaders(definitions, () => true);
  const write = compileWrittenValues(definitions, locate, "selection");
  if (!pass && !write) return undefined;
  return (sent) => ({ ...pass?.(sent.headers, false), ...write?.(sent).headers });
}
