/** The keys of a route about calls to the upstream in addition to the main call, and about failed checks. */
import { z } from "zod";
import { about, resolveReference } from "../../base/index.ts";
import { type CallDefinition, hasParts, ownCall, writtenCalls } from "../calls/call-definition.ts";
import { failures as failuresDefinition } from "../expressions/check-definition.ts";
import { compileCall, type RouteCall } from "../calls/call.ts";
import { partLoss, relatedLoss, responseLoss } from "../calls/loss-texts.ts";
import { routeKey } from "./key.ts";
import type { KeyContext } from "./key-context.ts";
import { has, hasNoEffect, type RouteKind, states, type WrittenKeys } from "../key-rules.ts";

/** Kinds of routes that only make their main call. */
const WITHOUT_CALLS: ReadonlySet<RouteKind> = new Set(["aggregated", "catalog", "rejected"]);

/** Returns the locations of a call's keys that a route does not support. */
const placesOf = (keys: WrittenKeys, isAt: (call: CallDefinition) => boolean): number[] =>
  writtenCalls(keys).flatMap((call, index) => (typeof call !== "string" && isAt(call) ? [index] : []));

/** Compiles the calls of a route, in order. */
function compileCalls(written: ReturnType<typeof writtenCalls>, context: KeyContext): readonly RouteCall[] {
  const calls: RouteCall[] = [];
  written.forEach((entry, index) => {
    const at = context.location.at(index);
    if (typeof entry === "string" && entry.includes("/"))
      return at.report({ message: `"${entry}" is not the name of a call`, hint: `upstream: ${entry}` });
    const found = typeof entry === "string" ? resolveReference(at, "call", entry, context.shared) : entry;
    if (!found) return;
    const definition: CallDefinition = typeof entry === "string" ? { ...found, name: entry } : entry;
    const location = typeof entry === "string" ? context.pack.at("calls", entry) : at;
    if (calls.some(({ member }) => member !== undefined && member === definition.name))
      at.report(`the route has two calls "${definition.name}"`);
    if (definition.name !== undefined && context.names.ofUpstream.includes(definition.name))
      at.report(`a path parameter has the name of the call "${definition.name}": rename the call`);
    calls.push(compileCall(definition, calls, { ...context, location }, ["calls", index]));
  });
  return calls;
}

/** Returns the losses of responses if a call fails. */
const lossesOf = ({ name, use, place, eachValue }: RouteCall, upstream: string): string[] =>
  place !== "after"
    ? []
    : use === "answer"
      ? [responseLoss(upstream)]
      : [relatedLoss(name, upstream), ...(eachValue ? [partLoss(name, upstream)] : [])];

export const calls = routeKey({
  schema: about(
    z.array(z.union([z.string().min(1), ownCall])).optional(),
    "Calls in addition to the main call, in order. A text is the name of a call of `pack.yaml`.",
    [{ name: "loan", upstream: "GET /books/{id}/loan" }],
  ),
  rules: [
    hasNoEffect(({ kind }) => WITHOUT_CALLS.has(kind), " on this route: it makes one call at most"),
    ({ keys, kind, callsBefore }) =>
      kind === "file"
        ? writtenCalls(keys).flatMap((call, index) =>
            (typeof call === "string" ? callsBefore.includes(call) : call.at === "before")
              ? []
              : {
                  at: ["calls", index],
                  message: "the response of this route is a file: all its calls are before the main call",
                  hint: "at: before",
                },
          )
        : [],
    ({ keys }) =>
      has({ keys }, "bulk")
        ? placesOf(keys, ({ at, part }) => at === "before" || part !== undefined).map((index) => ({
            at: ["calls", index],
            message: '"bulk" excludes calls before the main call, and parts',
          }))
        : [],
    ({ keys, kind }) =>
      kind === "paged" || has({ keys }, "search")
        ? placesOf(keys, ({ answer }) => answer !== undefined).map((index) => ({
            at: ["calls", index, "answer"],
            message: "the response of this route is a page of a list: no other call has it",
          }))
        : [],
    states(
      ({ keys }) => keys.response !== "object" && hasParts(keys),
      "a call with a part of an object needs a route that responds with an object",
    ),
  ],
  compile: compileCalls,
  openapi: (compiled) => {
    const statuses = compiled.flatMap(({ unfinished }) =>
      unfinished && "body" in unfinished && unfinished.status !== undefined ? [unfinished.status] : [],
    );
    const mayBeOtherObject = compiled.some(({ fallback }) => fallback !== undefined);
    return { ...(statuses.length > 0 && { statuses }), ...(mayBeOtherObject && { mayBeOtherObject }) };
  },
  guide: (compiled, { upstream }) =>
    compiled.flatMap(({ place, repeats }) =>
      place === "before" && repeats
        ? [
            `The gateway waited up to ${repeats.timeoutMs / 1000} s for an operation in progress. ` +
              `${upstream.charAt(0).toUpperCase()}${upstream.slice(1)} rejects the call during the operation: send it again later.`,
          ]
        : [],
    ),
  losses: (compiled, upstream) => compiled.flatMap((call) => lossesOf(call, upstream)),
});

export const failures = routeKey({
  schema: about(
    failuresDefinition.optional(),
    "Status and code of failed checks. Default: as for an invalid request.",
    { checks: { status: 409, code: "conflict" } },
  ),
});
