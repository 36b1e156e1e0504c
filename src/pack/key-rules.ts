/** Rules about keys as data: required keys, excluded keys, and cases in which a key has no effect. */
import type { SourceLocation } from "../base/index.ts";

/**
 * How the response of a route is created: from one v4 object or list, from several pages of a list, from the catalog
 * cache, or as a file.
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
  /** The method of the upstream call; `GET` if there is no call. */
  readonly call: string;
  /** The methods of all other calls. */
  readonly otherCalls: readonly string[];
  /** Names of the client's path parameters. */
  readonly parameters: readonly string[];
  /** Names of the calls before the main call. */
  readonly callsBefore: readonly string[];
  readonly body: BodyFacts | undefined;
  /** Whether a shape of the list contains the list's name, although the resource defines none. */
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
  /** Whether clients may send the version of the object that they change. */
  readonly maySendVersion: boolean;
  /** Whether the pack creates the versions of objects. */
  readonly makesVersion: boolean;
}

/** The keys of a route, a field or another part of a pack. */
export interface HasKeys {
  readonly keys: Readonly<Record<string, unknown>>;
}

/** A problem that involves a key. */
interface Problem {
  readonly message: string;
  readonly hint?: string;
  /** The keys that lead to the problem, below the route or the field. Default: the key to which the rule belongs. */
  readonly at?: readonly (string | number)[];
}

/**
 * A rule about a key: returns the problem of its use, if there is one.
 *
 * @typeParam Facts the facts about the route or field that uses the key
 */
export type KeyRule<Facts = RouteFacts> = (facts: Facts, name: string) => readonly Problem[];

/** The rules by key. */
export type KeyRules<Facts = RouteFacts> = Readonly<Record<string, readonly KeyRule<Facts>[] | undefined>>;

/** The entry of the rules about the keys as a whole, whichever of them are used. */
export const WHOLE = "*";

/** A problem as text, with a hint if the text does not name the remedy. */
type Text = Pick<Problem, "message" | "hint">;

/**
 * Exactly one of some keys must be used.
 *
 * @param none the problem if none is used. Undefined if none is needed
 * @param several the problem if several are used
 */
export const oneOf =
  <Facts extends HasKeys>(
    keys: readonly string[],
    none: (facts: Facts) => Text | undefined,
    several: (found: readonly string[]) => Text,
  ): KeyRule<Facts> =>
  (facts) => {
    const found = keys.filter((key) => has(facts, key));
    const problem = found.length === 0 ? none(facts) : found.length > 1 && several(found);
    return problem ? [{ at: [], ...problem }] : [];
  };

/** Creates a rule with its own message, for all problems that one sentence can describe. */
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

/** The key requires a second key. @param what the description of the second key, if its name is not enough */
export const needsKey = <Facts extends HasKeys>(key: string, what?: string): KeyRule<Facts> =>
  needs(`"${key}"${what === undefined ? "" : `: ${what}`}`, (facts) => has(facts, key));

/** The key requires a route of one of these kinds. */
export const needsKind = (kinds: readonly RouteKind[], what: string): KeyRule =>
  needs(what, ({ kind }) => kinds.includes(kind));

/** The key requires a body with one object. */
export const needsObjectBody: KeyRule = needs(
  "a body that is an object, not a list",
  ({ body }) => body?.isList !== true,
);

/** The key has no effect if the condition holds. */
export const hasNoEffect = <Facts>(isSo: (facts: Facts) => boolean, why: string): KeyRule<Facts> =>
  states(isSo, (name) => `"${name}" has no effect${why}`);

/** The key excludes a second key. @param why the reason, if it is not obvious */
export const excludes = <Facts extends HasKeys>(key: string, why?: string): KeyRule<Facts> =>
  states(
    (facts) => has(facts, key),
    (name) => `"${name}" and "${key}" exclude each other${why === undefined ? "" : `: ${why}`}`,
  );

/** The key excludes many other keys. Each of them is reported at its own location. */
export const excludesAll =
  <Facts extends HasKeys>(keys: readonly string[]): KeyRule<Facts> =>
  (facts, name) =>
    keys
      .filter((key) => has(facts, key))
      .map((key) => ({ message: `"${key}" and "${name}" exclude each other`, at: [key] }));

/**
 * Reports violations of the rules of keys.
 *
 * @param location the location of the route, the field or the other part with these keys
 * @param areUsed whether the rules are for keys that are used, or for missing keys
 */
export function checkRules<Facts extends HasKeys>(
  rules: KeyRules<Facts>,
  facts: Facts,
  location: SourceLocation,
  areUsed = true,
): void {
  for (const [name, ofKey = []] of Object.entries(rules)) {
    if (name !== WHOLE && has(facts, name) !== areUsed) continue;
    for (const problemsOf of ofKey)
      for (const { at = [name], ...message } of problemsOf(facts, name)) location.at(...at).report(message);
  }
}
