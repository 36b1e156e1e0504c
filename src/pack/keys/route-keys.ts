/** All keys of a route, with functions over all of them. */
import { z } from "zod";
import type { SourceLocation } from "../../base/index.ts";
import { orderCalls, type RouteCall } from "../calls/call.ts";
import { checkRules, type RouteFacts } from "../key-rules.ts";
import * as bodies from "./bodies.ts";
import * as bulk from "./bulk.ts";
import * as calls from "./calls.ts";
import * as credentials from "./credentials.ts";
import type { KeyComparison, RouteKey } from "./key.ts";
import type { KeyContext } from "./key-context.ts";
import type { Query } from "../paths/query.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import * as lists from "./lists.ts";
import * as response from "./response.ts";
import * as source from "./source.ts";
import * as sparse from "./sparse-fields.ts";
import * as versions from "./if-match.ts";

/**
 * All keys: every export of every module that is listed here. The name in a pack is the name of the export in snake
 * case. Descriptions of routes use this order.
 *
 * The key `only_new` of a route needs one export of a module. The gateway reads `route.onlyNew`, `true` or undefined:
 *
 *     export const onlyNew = routeKey({ schema: about(z.literal(true).optional(), "What it does.", true) });
 */
const KEYS = {
  ...source,
  ...credentials,
  ...response,
  ...sparse,
  ...bodies,
  ...versions,
  ...lists,
  ...bulk,
  ...calls,
} satisfies Record<string, Pick<RouteKey<z.ZodType, unknown>, "schema" | "rules">>;

type Keys = typeof KEYS;

/** `readRoute` → `read_route`, as in a pack. */
type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${Snake<Rest>}`
    : `_${Lowercase<First>}${Snake<Rest>}`
  : Name;

const toSnake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The values of the keys of a route: compiled, or as in the pack. Missing keys are undefined. */
type CompiledKeys = {
  readonly [Name in Exclude<keyof Keys, "calls">]: Keys[Name] extends RouteKey<z.ZodType, infer Compiled>
    ? Compiled | undefined
    : never;
};

/** The keys, without their types. */
const ALL = Object.entries(KEYS).map(
  ([member, key]) =>
    ({ member, name: toSnake(member), key: key as unknown as RouteKey<z.ZodType, unknown> }) as const,
);

/** The schemas of all keys, by their names in a pack. */
const keySchemas = Object.fromEntries(ALL.map(({ name, key }) => [name, key.schema])) as {
  [Name in keyof Keys as Snake<Name>]: Keys[Name]["schema"];
};

/** The schema of one route. */
export const route = z.strictObject(keySchemas);

export type RouteDefinition = z.infer<typeof route>;

const RULES = Object.fromEntries(ALL.map(({ name, key }) => [name, key.rules]));
const RULES_WITHOUT = Object.fromEntries(ALL.map(({ name, key }) => [name, key.rulesWithout]));

/** Reports keys of a route that exclude each other, require other keys, or have no effect. */
export function checkKeys(facts: RouteFacts, location: SourceLocation): void {
  checkRules(RULES, facts, location);
  checkRules(RULES_WITHOUT, facts, location, false);
}

/** Reports problems of the keys of `client` that routes have as well. @param client the location of `client` */
export function checkClientKeys(
  dialect: DialectDefinition,
  resources: KeyContext["resources"],
  client: SourceLocation,
): void {
  for (const { key } of ALL) key.checkClient?.(dialect, resources, client);
}

/**
 * Joins compiled keys with other members. The call does not compile if a key and a member have the same name, since the
 * key's value would be lost.
 */
export const joinKeys = <Keys extends object, Members extends object>(
  keys: Keys,
  members: Members & { readonly [Name in keyof Keys & keyof Members]: never },
): Omit<Keys, keyof Members> & Members => ({ ...keys, ...members });

/** Compiles the keys of a route. */
export function compileKeys(context: Omit<KeyContext, "location">) {
  const names = { client: context.dialect.client.name, upstream: context.dialect.upstream.name };
  const compiled: Record<string, unknown> = {};
  const found = ALL.flatMap(({ member, name, key }) => {
    const ofKey = { ...context, location: context.route.at(name) };
    const definition = context.keys[name] ?? key.inherit?.(ofKey);
    if (definition === undefined) return [];
    const value = (key.compile ? key.compile(definition, ofKey) : definition) ?? undefined;
    compiled[member] = value;
    return value === undefined ? [] : [{ key, value }];
  });
  const calls = (compiled["calls"] as readonly RouteCall[] | undefined) ?? [];
  for (const { key, value } of found) key.checkCalls?.(value, calls, context.route);
  return joinKeys(compiled as unknown as CompiledKeys, {
    /** The calls of the route in addition to its main call, in order. */
    calls,
    callOrder: orderCalls(calls),
    /** The query parameters that keys read. */
    keyParameters: found.flatMap(({ key, value }) => key.parameters?.(value) ?? []),
    /** Returns the members of objects that a request chooses; undefined for all members. @throws {HttpError} 400 */
    chooseMembers: found.flatMap(({ key: { choose }, value }) =>
      choose ? [(query: Query) => choose(value, query)] : [],
    )[0],
    descriptions: found.flatMap(({ key, value }) => key.openapi?.(value) ?? []),
    /** Descriptions of the gateway's work for the route, for programs that call the upstream without the gateway. */
    guide: found.flatMap(({ key, value }) => key.guide?.(value, names) ?? []),
    /** What the route means for comparisons of its responses. */
    comparison: Object.assign({}, ...found.map(({ key }) => key.comparison)) as KeyComparison,
    /** Names of the client's routes that read the object of the route. Clients may send back their responses. */
    objectRoutes: found.flatMap(({ key, value }) => key.objectRoutes?.(value) ?? []),
    /** Descriptions of what the gateway does after some responses, for authors of a pack. */
    explanations: found.flatMap(({ key, value }) => key.explain?.(value, names) ?? []),
    /** The losses of responses if calls fail. */
    callLosses: found.flatMap(({ key, value }) => key.losses?.(value, names.upstream) ?? []),
  });
}
