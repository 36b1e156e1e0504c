/** The registry of the keys of a route, with functions over all of them. */
import type { z } from "zod";
import type { SourceLocation } from "../../base/index.ts";
import { type CallOrder, orderCalls, type RouteCall } from "../calls/call.ts";
import * as bodies from "./bodies.ts";
import { aggregate } from "./aggregate.ts";
import { bulk } from "./bulk.ts";
import { calls } from "./calls.ts";
import { failures } from "./failures.ts";
import * as credentials from "./credentials.ts";
import { headers } from "./headers.ts";
import type { KeyContext, KeyDescription, KeyParameter, RouteKey } from "./key.ts";
import * as lists from "./lists.ts";
import * as response from "./response.ts";
import { checkRules, type RouteFacts } from "../key-rules.ts";
import * as source from "./source.ts";
import { sparseFields } from "./sparse-fields.ts";

/**
 * All keys: each export of each module. The name in a pack is the name of the export in snake case. Their calls are
 * listed in this order.
 */
const KEYS = {
  ...source,
  ...credentials,
  ...response,
  sparseFields,
  headers,
  ...bodies,
  ...lists,
  aggregate,
  failures,
  bulk,
  calls,
};

type Keys = typeof KEYS;

/** `readRoute` → `read_route`, as a pack has it. */
type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${Snake<Rest>}`
    : `_${Lowercase<First>}${Snake<Rest>}`
  : Name;

const toSnake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The compiled keys of a route. Keys that it does not have are undefined. */
export type CompiledKeys = {
  readonly [
    Name in Exclude<keyof Keys, "calls"> as Keys[Name] extends { compile: unknown } ? Name : never
  ]: Keys[Name] extends {
    compile: (...given: never[]) => infer Compiled;
  }
    ? Compiled | undefined
    : never;
};

/** The effects of the keys of a route, prepared for functions over all of them. */
export interface KeyFacts {
  /** The calls of the route in addition to its main call, in order. */
  readonly calls: readonly RouteCall[];
  readonly callOrder: CallOrder;
  /** The query parameters that keys read. */
  readonly keyParameters: readonly KeyParameter[];
  readonly descriptions: readonly KeyDescription[];
  /** The work of the gateway on the route, for programs that call the upstream without the gateway. */
  readonly guide: readonly string[];
  /** The losses of responses if calls fail. */
  readonly callLosses: readonly string[];
}

type AnyKey = Pick<RouteKey<z.ZodType, unknown>, "schema" | "rules"> & Partial<RouteKey<z.ZodType, unknown>>;

/** The registry without the types of the single keys. */
const ALL = Object.entries(KEYS).map(
  ([member, key]) => ({ member, name: toSnake(member), key: key as unknown as AnyKey }) as const,
);

/** The schemas of all keys, by their names in a pack. */
export const keySchemas = Object.fromEntries(ALL.map(({ name, key }) => [name, key.schema])) as {
  [Name in keyof Keys as Snake<Name>]: Keys[Name]["schema"];
};

const RULES = Object.fromEntries(ALL.map(({ name, key }) => [name, key.rules]));

/** Reports keys of a route that exclude each other, that need others, and that have no effect. */
export const checkKeys = (facts: RouteFacts, location: SourceLocation): void =>
  checkRules(RULES, facts, location);

/** Compiles the keys of a route. */
export function compileKeys(context: Omit<KeyContext, "location">): CompiledKeys & KeyFacts {
  const names = { client: context.dialect.client.name, upstream: context.dialect.upstream.name };
  const compiled: Record<string, unknown> = {};
  const found = ALL.flatMap(({ member, name, key }) => {
    if (!key.compile) return [];
    const ofKey = { ...context, location: context.route.at(name) };
    const definition = context.keys[name] ?? key.inherit?.(ofKey);
    const value = definition == null ? undefined : (key.compile(definition, ofKey) ?? undefined);
    compiled[member] = value;
    return value === undefined ? [] : [{ key, value }];
  });
  const calls = (compiled["calls"] as readonly RouteCall[] | undefined) ?? [];
  for (const { key, value } of found) key.checkCalls?.(value, calls, context.route);
  return {
    ...(compiled as unknown as CompiledKeys),
    calls,
    callOrder: orderCalls(calls),
    keyParameters: found.flatMap(({ key, value }) => key.parameters?.(value) ?? []),
    descriptions: found.flatMap(({ key, value }) => key.openapi?.(value) ?? []),
    guide: found.flatMap(({ key, value }) => key.guide?.(value, names) ?? []),
    callLosses: found.flatMap(({ key, value }) => key.losses?.(value, names.upstream) ?? []),
  };
}
