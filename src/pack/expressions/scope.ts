/** The variables of expressions: the facts about a request and its calls that are known when an expression runs. */
import type { Bindings, Expression, MaybePromise } from "../../jsonata/index.ts";
import type { SourceLocation } from "../../base/index.ts";
import { headersOf, joinLines, queryOf } from "./client-head.ts";
import { compileExpressionAt } from "./compile-expression.ts";
import type { Scope } from "../translation-context.ts";

/** The steps of a request, in this order. */
type Step = "selection" | "request" | "translated" | "response";

/** The progress of a request when an expression runs. `early response`: a call before the main call has responded. */
export type Phase = Step | "early response";

/** The completed steps in each phase. */
const STEPS: Readonly<Record<Phase, readonly Step[]>> = {
  selection: ["selection"],
  request: ["selection", "request"],
  "early response": ["selection", "request", "response"],
  translated: ["selection", "request", "translated"],
  response: ["selection", "request", "translated", "response"],
};

/** A variable, with the first step in which it has a value, and the reason why it has none before. */
interface Variable {
  readonly since: Step;
  readonly before?: string;
  readonly valueOf: (scope: Scope, hiddenHeaders: readonly string[]) => unknown;
}

const NO_RESPONSE = "the upstream has not responded yet";

/** All variables. */
const VARIABLES: Readonly<Record<string, Variable>> = {
  path: { since: "selection", valueOf: ({ head }) => head?.match.parameters },
  query: { since: "selection", valueOf: ({ head }) => head && queryOf(head) },
  headers: {
    since: "selection",
    valueOf: ({ head }, hiddenHeaders) => head && headersOf(head, hiddenHeaders),
  },
  body: { since: "selection", valueOf: ({ body }) => body },
  now: { since: "selection", valueOf: ({ head }) => head?.time.toISOString() },
  calls: { since: "request", before: "no call has been sent yet", valueOf: ({ calls }) => calls },
  request: {
    since: "translated",
    before: "the client's body is not translated yet",
    valueOf: ({ request }) => request,
  },
  response: { since: "response", before: NO_RESPONSE, valueOf: ({ response }) => response?.json },
  response_headers: {
    since: "response",
    before: NO_RESPONSE,
    valueOf: ({ response }) => joinLines(response?.headers ?? {}),
  },
  status: { since: "response", before: NO_RESPONSE, valueOf: ({ response }) => response?.status },
};

/** The names of all variables. */
export const SCOPE_VARIABLES: readonly string[] = Object.keys(VARIABLES);

/** Reports the variables of an expression that have no value yet. */
function reportEarlyVariables(used: Iterable<string>, phase: Phase, location: SourceLocation): void {
  for (const name of used) {
    const { since, before } = VARIABLES[name] ?? {};
    if (since !== undefined && !STEPS[phase].includes(since))
      location.report(`$${name} has no value here: ${before}`);
  }
}

/** Creates the function that computes the variables of an expression at a location. */
export function createBindings(
  used: ReadonlySet<string>,
  { hiddenHeaders }: SourceLocation,
): (scope: Scope) => Bindings {
  const makers = Object.entries(VARIABLES).filter(([name]) => used.has(name));
  if (makers.length === 0) return () => ({});
  return (scope) =>
    Object.fromEntries(makers.map(([name, { valueOf }]) => [name, valueOf(scope, hiddenHeaders)]));
}

/** An expression over the variables of a request. */
export interface ScopedExpression extends Pick<Expression, "variables" | "inputNames"> {
  /** The reason why the expression can't be compiled; undefined if it can. */
  readonly fallback: string | undefined;
  /** @param own the values of the variables that only this expression has */
  readonly evaluate: (input: unknown, scope: Scope, own?: Bindings) => MaybePromise<unknown>;
  /** Whether the expression reads its input. */
  readonly readsInput: boolean;
}

/**
 * Compiles an expression that may read all variables. Reports variables that have no value yet.
 *
 * @param own Additional variables for this expression.
 */
export function compileScoped(
  source: string,
  location: SourceLocation,
  phase: Phase,
  own: readonly string[] = [],
): ScopedExpression {
  const expression = compileExpressionAt(location, source, [...SCOPE_VARIABLES, ...own]);
  const { variables, inputNames, fallback } = expression;
  const ofScope = variables.difference(new Set(own));
  reportEarlyVariables(ofScope, phase, location);
  const bind = createBindings(ofScope, location);
  return {
    evaluate: (input, scope, given) =>
      expression.evaluate(input, given ? { ...bind(scope), ...given } : bind(scope)),
    variables,
    inputNames,
    fallback,
    readsInput: inputNames === "all" || inputNames.size > 0,
  };
}
