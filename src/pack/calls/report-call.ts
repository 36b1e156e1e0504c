/** Keys of a call that need or exclude each other, or that have no effect. */
import type { SourceLocation } from "../../base/index.ts";
import type { CallDefinition } from "./call-definition.ts";
import type { RouteCall } from "./call.ts";
import type { Endpoint } from "./endpoint.ts";

/** Requests that one call is repeated with. */
const MOST_REQUESTS = 100;

function reportRepetition({ repeat, unfinished }: CallDefinition, location: SourceLocation): void {
  if (!repeat) {
    if (unfinished) location.at("unfinished").report('"unfinished" needs "repeat"');
    return;
  }
  const { interval_ms: interval, timeout_ms: timeout } = repeat;
  const at = location.at("repeat", "interval_ms");
  if (interval > timeout) at.report("the call would not be repeated: interval_ms is longer than timeout_ms");
  if (timeout > MOST_REQUESTS * interval)
    at.report(`a call is sent ${MOST_REQUESTS} times at most: interval_ms is too short for timeout_ms`);
}

/** Reports keys that only a read has, or only a call that writes. */
function reportMethod(definition: CallDefinition, { method }: Endpoint, location: SourceLocation): void {
  const ofRead = ["all_pages", "cache_seconds", "repeat", "not_found_field"] as const;
  if (method === "GET" && definition.body !== undefined)
    location.at("body").report('"body" has no effect: a GET has no body');
  if (method !== "GET")
    for (const key of ofRead)
      if (definition[key] !== undefined) location.at(key).report(`"${key}" needs a call that is a GET`);
}

/** Reports keys that need a place before the main call, or after it. */
function reportPlace(definition: CallDefinition, location: SourceLocation): void {
  const { at, not_found_field: field } = definition;
  const later = ["answer", "status", "part", "fallback"] as const;
  if (at === "before")
    for (const key of later)
      if (definition[key] !== undefined)
        location.at(key).report(`"${key}" has no effect: the call is sent before the main call`);
  if (at === "after" && field !== undefined)
    location.at("not_found_field").report('"not_found_field" needs "at: before"');
}

/** Reports what is wrong with a call of its own, without its expressions. */
export function reportInvalidCall(
  definition: CallDefinition,
  endpoint: Endpoint,
  before: readonly RouteCall[],
  location: SourceLocation,
): void {
  const {
    at,
    answer,
    fallback,
    optional,
    repeat,
    each,
    part,
    cache_seconds: cached,
    all_pages: allPages,
  } = definition;
  reportRepetition(definition, location);
  reportMethod(definition, endpoint, location);
  reportPlace(definition, location);
  for (const name of Object.keys(definition.values ?? {}))
    if (!endpoint.names.has(name))
      location.at("values", name).report({
        message: `"${name}" has no effect: the path of "upstream" does not have {${name}}`,
        hint: `${definition.upstream}/{${name}}`,
      });
  if (at === "before" && before.some(({ place }) => place !== "before"))
    location.at("at").report("calls before the main call come first in the list");
  if (answer !== undefined && at === "after" && !repeat && fallback === undefined && optional !== false)
    location.at("answer").report({
      message:
        'an answer after the call needs "fallback" or "optional: false": the call itself has succeeded if this one fails',
      hint: "fallback: '{ \"id\": $path.id }'",
    });
  if (fallback !== undefined && answer === undefined)
    location.at("fallback").report('"fallback" needs "answer"');
  if (cached !== undefined && (allPages === true || each !== undefined))
    location
      .at("cache_seconds")
      .report('"cache_seconds" excludes "all_pages" and "each": only a single response can be cached');
  if (allPages === true && each !== undefined) location.report('"all_pages" and "each" exclude each other');
  const single = ["each", "all_pages"] as const;
  if (answer !== undefined || repeat || part !== undefined)
    for (const key of single)
      if (definition[key] !== undefined)
        location
          .at(key)
          .report(`"${key}" excludes "answer", "repeat" and "part": they are about one response`);
}
