/** Keys of a call that need or exclude each other, or that have no effect. */
import type { SourceLocation } from "../../base/index.ts";
import {
  checkRules,
  hasNoEffect,
  type KeyRule,
  type KeyRules,
  needs,
  needsKey,
  states,
} from "../key-rules.ts";
import type { CallDefinition } from "./call-definition.ts";
import type { Endpoint } from "./endpoint.ts";

/** Maximum number of requests for one repeated call. */
const MOST_REQUESTS = 100;

/** The facts about an earlier call of the route that later calls depend on. */
export interface EarlierCall {
  readonly member: string | undefined;
  readonly place: "before" | "beside" | "after";
}

/** The facts about a call for rules. */
interface CallFacts {
  readonly keys: CallDefinition;
  readonly endpoint: Endpoint;
  /** The earlier calls of the route. */
  readonly earlier: readonly EarlierCall[];
}

type CallRule = KeyRule<CallFacts>;

const isRead: CallRule = needs("a call that is a GET", ({ endpoint }) => endpoint.method === "GET");

const isLater: CallRule = hasNoEffect(
  ({ keys }) => keys.at === "before",
  ": the call is sent before the main call",
);

const isOneResponse: CallRule = states(
  ({ keys: { answer, repeat, part } }) => (answer ?? repeat ?? part) !== undefined,
  (name) => `"${name}" excludes "answer", "repeat" and "part": they are about one response`,
);

const RULES: KeyRules<CallFacts> = {
  unfinished: [needsKey("repeat")],
  repeat: [
    isRead,
    ({ keys: { repeat } }) => {
      const { interval_ms: interval = 0, timeout_ms: timeout = 0 } = repeat ?? {};
      const at = ["repeat", "interval_ms"];
      if (interval > timeout)
        return [{ at, message: "the call would not be repeated: interval_ms is longer than timeout_ms" }];
      const message = `a call is sent ${MOST_REQUESTS} times at most: interval_ms is too short for timeout_ms`;
      return timeout > MOST_REQUESTS * interval ? [{ at, message }] : [];
    },
  ],
  body: [hasNoEffect(({ endpoint }) => endpoint.method === "GET", ": a GET has no body")],
  status: [isLater],
  part: [isLater],
  fallback: [isLater, needsKey("answer")],
  not_found_field: [isRead, needs('"at: before"', ({ keys }) => keys.at === "before")],
  values: [
    ({ keys: { values = {}, upstream }, endpoint }) =>
      Object.keys(values)
        .filter((name) => !endpoint.names.has(name))
        .map((name) => ({
          at: ["values", name],
          message: `"${name}" has no effect: the path of "upstream" does not have {${name}}`,
          hint: `${upstream}/{${name}}`,
        })),
  ],
  at: [
    states(
      ({ keys, earlier }) => keys.at === "before" && earlier.some(({ place }) => place !== "before"),
      "calls before the main call come first in the list",
    ),
  ],
  answer: [
    isLater,
    states(
      ({ keys: { at, repeat, fallback, optional } }) =>
        at === "after" && !repeat && fallback === undefined && optional !== false,
      'an answer after the call needs "fallback" or "optional: false": the call itself has succeeded if this one fails',
      "fallback: '{ \"id\": $path.id }'",
    ),
  ],
  cache_seconds: [
    isRead,
    states(
      ({ keys: { all_pages: allPages, each } }) => allPages === true || each !== undefined,
      '"cache_seconds" excludes "all_pages" and "each": only a single response can be cached',
    ),
  ],
  all_pages: [
    isRead,
    isOneResponse,
    ({ keys: { each } }) =>
      each === undefined ? [] : [{ at: [], message: '"all_pages" and "each" exclude each other' }],
  ],
  each: [isOneResponse],
};

/** Reports problems of a call, except for problems of its expressions. */
export const reportInvalidCall = (facts: CallFacts, location: SourceLocation): void =>
  checkRules(RULES, facts, location);
