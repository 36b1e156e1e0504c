/** Rules about keys as data: required keys, excluded keys, and where a key has no effect. */
import type { SourceLocation } from "../base/index.ts";

/**
 * How the response of a route is built: from one v4 object or list, from several pages of a list, from
 * the catalog cache, or as a file.
 */
export type RouteKind = "object" | "list" | "paged" | "aggregated" | "bulk" | "catalog" | "file" | "rejected";

/** The keys of a route as the pack writes them. */
export interface WrittenKeys {
  readonly response: "list" | "object" | "none" | "file";
  readonly upstream?: string | undefined;
  readonly [key: string]: unknown;
}

/** The facts about a route for rules. */
export interface RouteFacts {
  readonly keys: WrittenKeys;
  readonly kind: RouteKind;
  /** The client's method. */
  readonly method: string;
  /** The method of the upstream call; `GET` without one. */
  readonly call: string;
  /** Names of the client's path parameters. */
  readonly parameters: readonly string[];
  /** Names of the calls before the main call. */
  readonly callsBefore: readonly string[];
  readonly body: BodyFacts | undefined;
  /** Whether a shape of the list contains its name, and the resource has none. */
  readonly lacksListName: boolean;
  readonly headers: HeaderFacts;
}

/** The facts about the body of a route for rules. */
interface BodyFacts {
  readonly isList: boolean;
  readonly members: readonly unknown[];
  readonly added: readonly string[];
  readonly toPath: { readonly size: number };
  readonly callSources: readonly { readonly path: string; readonly use: string }[];
  readonly pathParameters: readonly string[];
}

/** The facts about the headers of a route for rules. */
interface HeaderFacts {
  /** Whether clients may send which version of an object they change. */
  readonly maySendVersion: boolean;
  /** Whether the pack makes the versions of objects. */
  readonly makesVersion: boolean;
}

/** The keys of a route, a field or another part of a pack. */
interface HasKeys {
  readonly keys: Readonly<Record<string, unknown>>;
}

/** A problem of a key. */
interface Problem {
  readonly message: string;
  readonly hint?: string;
  /** The keys that lead to it, below the route or the field. Default: the key with the rule. */
  readonly at?: readonly (string | number)[];
}

/**
 * A rule about a key: the problem at the place of its use.
 *
 * @typeParam Facts what is known of the route or of the field with the key
 */
export type KeyRule<Facts = RouteFacts> = (facts: Facts, name: string) => readonly Problem[];

/** The keys with rules. */
export type KeyRules<Facts = RouteFacts> = Readonly<Record<string, readonly KeyRule<Facts>[] | undefined>>;

/** A rule in its own words, for all problems of which one sentence is enough. */
export const states =
  <Facts>(
    isBroken: (facts: Facts) => boolean,
    message: string | ((name: string) => string),
    hint?: string,
  ): KeyRule<Facts> =>
  (facts, name) =>
    isBroken(facts)
      ? [
          {
            message: typeof message === "string" ? message : message(name),
            ...(hint !== undefined && { hint }),
          },
        ]
      : [];

/** Whether a key is used. */
export const has = ({ keys }: HasKeys, key: string): boolean => keys[key] !== undefined;

/** The key requires a kind of route. @param what the kind as text: "a route that responds with a list" */
export const needs = <Facts>(what: string, isMet: (facts: Facts) => boolean): KeyRule<Facts> =>
  states(
    (facts) => !isMet(facts),
    (name) => `"${name}" needs ${what}`,
  );

/** The key requires another key. @param what the description of the other key, if its name is not enough */
export const needsKey = <Facts extends HasKeys>(key: string, what?: string): KeyRule<Facts> =>
  needs(`"${key}"${what === undefined ? "" : `: ${what}`}`, (facts) => has(facts, key));

/** The key needs a route that builds its response in one of some ways. */
export const needsKind = (kinds: readonly RouteKind[], what: string): KeyRule =>
  needs(what, ({ kind }) => kinds.includes(kind));

/** The key needs a body with one object. */
export const needsObjectBody: KeyRule = needs(
  "a body that is an object: this one is a list",
  ({ body }) => body?.isList !== true,
);

/** The key has no effect in some places. */
export const hasNoEffect = <Facts>(isSo: (facts: Facts) => boolean, why: string): KeyRule<Facts> =>
  states(isSo, (name) => `"${name}" has no effect${why}`);

/** The key excludes another one. @param why the reason, if that is not plain */
export const excludes = <Facts extends HasKeys>(key: string, why?: string): KeyRule<Facts> =>
  states(
    (facts) => has(facts, key),
    (name) => `"${name}" and "${key}" exclude each other${why === undefined ? "" : `: ${why}`}`,
  );

/** The key excludes many others. Each of them is reported at its own place. */
export const excludesAll =
  <Facts extends HasKeys>(keys: readonly string[]): KeyRule<Facts> =>
  (facts, name) =>
    keys
      .filter((key) => has(facts, key))
      .map((key) => ({ message: `"${key}" and "${name}" exclude each other`, at: [key] }));

/** Reports the rules that keys break. @param location the location of the route or of the field */
export function checkRules<Facts extends HasKeys>(
  rules: KeyRules<Facts>,
  facts: Facts,
  location: SourceLocation,
): void {
  for (const [name, ofKey = []] of Object.entries(rules)) {
    if (!has(facts, name)) continue;
    for (const problemsOf of ofKey)
      for (const { at = [name], ...message } of problemsOf(facts, name)) location.at(...at).report(message);
  }
}
