/** The parts of their routes that occurred in compared responses: fields with a value, and words of value tables. */
import { isObject, parseJson } from "../../base/index.ts";
import { type Pack, type ResponseField, responseFields } from "../../pack/index.ts";

/** The parts of a route that occur in a response: `field` if it is not null, `field=word` for a value table. Never throws. */
export type CoverAnswer = (route: string, body: Buffer) => readonly string[];

type Sources = Pick<Pack, "route" | "resources" | "dialect">;

/** Maximum number of values of a response that are read. */
const MAX_VALUES = 5000;
const MAX_DEPTH = 64;
/** Maximum number of words of a table that are counted separately. */
const MAX_WORDS = 100;
const MAX_WORD_LENGTH = 100;

/** Returns the words of a value table that are sent to clients. Empty for a field without a table. */
function wordsOfField({ rule }: ResponseField, { dialect }: Sources): readonly string[] {
  const kind = rule.values === undefined ? undefined : dialect.values[rule.values];
  if (!kind || (!kind.same && typeof kind.read !== "object")) return [];
  const read = typeof kind.read === "object" ? kind.read.map(([, word]) => word) : [];
  const words = [...(kind.same ?? []), ...read].filter((word) => word !== null).map(String);
  return [...new Set(words)].filter((word) => word.length <= MAX_WORD_LENGTH).slice(0, MAX_WORDS);
}

/** Returns the fields of a route that can have a value, by their paths, with the client's words of their value tables. */
function coveredFields(name: string, pack: Sources): ReadonlyMap<string, readonly string[]> {
  const route = pack.route(name);
  if (!route) return new Map();
  return new Map(
    [...responseFields(route, pack)]
      .filter(([, { rule }]) => rule.const !== null)
      .map(([path, field]) => [path, wordsOfField(field, pack)]),
  );
}

/** Creates the function that finds the fields and words in a response. */
export function createCoverage(pack: Sources): CoverAnswer {
  const fields = new Map<string, ReturnType<typeof coveredFields>>();
  return (route, body) => {
    const known = fields.get(route) ?? coveredFields(route, pack);
    fields.set(route, known);
    const seen = new Set<string>();
    let left = MAX_VALUES;
    function visit(value: unknown, path: string): void {
      left -= 1;
      if (left < 0 || value === null || value === undefined) return;
      if (Array.isArray(value)) return value.forEach((item) => visit(item, path));
      const words = known.get(path);
      if (words) seen.add(path);
      if (isObject(value)) {
        for (const [name, member] of Object.entries(value))
          visit(member, path === "" ? name : `${path}.${name}`);
        return;
      }
      const word = typeof value === "string" ? value : JSON.stringify(value);
      if (words?.includes(word)) seen.add(`${path}=${word}`);
    }
    try {
      visit(parseJson(body.toString(), { maxDepth: MAX_DEPTH }), "");
    } catch {
      // The body is not JSON, or nested more deeply than any object of a pack.
      return [];
    }
    return [...seen];
  };
}

/** Whether a parent of a field did not occur in any response, which is sufficient information. */
const isBelowUnseen = (
  path: string,
  seen: ReadonlySet<string>,
  known: ReadonlyMap<string, unknown>,
): boolean =>
  path.split(".").some((_, depth, names) => {
    const above = names.slice(0, depth).join(".");
    return known.has(above) && !seen.has(above);
  });

/**
 * Finds the parts of a route that occurred in no compared response: fields that were always missing or null, and words
 * of value tables, `books.state=lent`.
 *
 * @param seen The fields and words that occurred
 */
export function findGaps(route: string, seen: ReadonlySet<string>, pack: Sources) {
  const known = coveredFields(route, pack);
  const fields = [...known];
  return {
    fields: fields.flatMap(([path]) => (seen.has(path) || isBelowUnseen(path, seen, known) ? [] : [path])),
    // If a field never had a value, none of its words occurred.
    words: fields.flatMap(([path, words]) =>
      seen.has(path) ? words.map((word) => `${path}=${word}`).filter((name) => !seen.has(name)) : [],
    ),
  };
}
