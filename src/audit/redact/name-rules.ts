/** The rules of a pack about names, and where they apply in a name. */
import { joinWords, foldName } from "./fold-name.ts";

/** A rule about names. Its name is compared without the signs between words: `root_pass`, `rootPass` and `rootpass` are one. */
export interface NameRule {
  readonly name: string;
  /** How the name must occur: on its own, as a part of a longer name, or anywhere within a name. */
  readonly place: "alone" | "part" | "anywhere";
  /** Whether the values of the name are secret, or only if they are texts, or not at all. */
  readonly kind: "secret" | "texts" | "harmless";
}

/**
 * Reads a rule.
 *
 * @param written As the pack spells it. `root_pass` is secret alone, as a whole name. `*password*` is also secret anywhere
 *   within longer names, such as `new_password`. `_pin_` is also secret as a part of a longer name: it matches `card_pin` and
 *   `pinCode`, but not `spin`. `!token_type` and `!*secretar*` are exceptions, alone and anywhere. `tokens[]`: texts in such
 *   a list are secret, and objects are searched.
 */
export function readRule(written: string): NameRule {
  const name = joinWords(foldName(written.replaceAll(/^!|\*|\[\]$/g, "")));
  if (written.startsWith("!"))
    return { name, place: written.startsWith("!*") ? "anywhere" : "alone", kind: "harmless" };
  if (written.endsWith("[]")) return { name, place: "alone", kind: "texts" };
  if (written.startsWith("*")) return { name, place: "anywhere", kind: "secret" };
  return { name, place: /^_.*_$/.test(written) ? "part" : "alone", kind: "secret" };
}

/** What is before and after names that count, by the place of their rules. */
type Spots = Readonly<Record<NameRule["place"], (names: string) => string>>;

/** The spots within the words of a name (`foldName`). */
const WITHIN: Spots = {
  alone: (names) => `(?<=(?:^|\\.)_?)${names}(?=_?(?:$|\\.))`,
  part: (names) => `(?<![a-z])${names}(?![a-z])`,
  anywhere: (names) => names,
};

/**
 * The spots at the end of a text before a sign such as a colon: other words may be before a name, and the rest of a
 * longer name may follow it.
 */
export const AT_END: Spots = {
  alone: (names) => `(?<![a-z])${names}[_.]?$`,
  part: (names) => `(?<![a-z])${names}(?![a-z]).{0,32}$`,
  anywhere: (names) => `${names}.{0,32}$`,
};

/**
 * Returns a pattern of names, the longest first, with signs between their words. Names share their starts, because a
 * client chooses the words in which they are searched: at each place, each start is compared once.
 */
function sharingStarts(names: readonly string[], between = ""): string {
  const alternatives = [...Map.groupBy(names, (name) => name.slice(0, 1))].map(([first, own]) => {
    const rests = own.map((name) => name.slice(1));
    const rest = rests.every((each) => each === "") ? "" : sharingStarts(rests, "_?");
    return first === "" ? "" : between + first.replace(".", "\\.") + rest;
  });
  // The end of a name is empty, so it is the last alternative.
  return `(?:${alternatives.toSorted((one, other) => other.length - one.length).join("|")})`;
}

/** Returns a pattern that matches the names of some rules in some words, where they count. */
export function rulePattern(rules: readonly NameRule[], flags: "" | "g" = "", spots: Spots = WITHIN): RegExp {
  const byPlace = Map.groupBy(rules, ({ place }) => place);
  // A name alone is the longest one at its place.
  const alternatives = (["alone", "part", "anywhere"] as const).flatMap((place) => {
    const names = byPlace.get(place)?.map(({ name }) => name);
    return names ? [spots[place](sharingStarts(names))] : [];
  });
  return new RegExp(alternatives.join("|") || "(?!)", flags);
}
