/**
 * The product words of the service.
 *
 * Mappings, code and documents use two neutral words (`vm`, `orch`). A real service uses its own product names. All
 * strings of a pack are renamed once, when it is loaded: path segments, list names, scope areas, field names, enum
 * members, id prefixes and event actions.
 */

/** From neutral word to the service's word, e.g. `{ vm: "acme", orch: "acmeks" }`. */
export type ProductWords = Readonly<Record<string, string>>;

/** Renames the neutral words in a string. */
export type RenameString = (text: string) => string;

/**
 * Parses `vm=acme,orch=acmeks`. A word is a lower-case letter, then lower-case letters and digits.
 *
 * @throws {Error} if the text is not a list of `word=word`, or a word occurs twice
 */
export function parseProductWords(text: string): ProductWords {
  const words: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const pair of text.split(",")) {
    const match = /^\s*([a-z][a-z0-9]*)=([a-z][a-z0-9]*)\s*$/.exec(pair);
    if (!match?.[1] || !match[2])
      throw new Error(`"${pair}" is not word=word, for example vm=acme,orch=acmeks`);
    if (match[1] in words) throw new Error(`"${match[1]}" is given twice`);
    words[match[1]] = match[2];
  }
  return words;
}

/**
 * Creates the function that renames strings.
 *
 * A neutral word is renamed if no letter is next to it (`vm_id`, `vm/debian8`, `vm2048`), in the plural (`add_vms`),
 * before `cluster` (v4 has `orchcluster_id`), and with a capital letter (`Vms`). Longer words that contain it
 * (`vmlinuz`, `orchestra`) stay the same.
 *
 * @param scopeWords words that are renamed only by {@link scopeRenaming}
 */
export function createRenamer(words: ProductWords, scopeWords: readonly string[] = []): RenameString {
  const changed = Object.entries(words).filter(([from, to]) => from !== to && !scopeWords.includes(from));
  if (changed.length === 0) return (text) => text;
  const alternatives = changed.map(([from]) => from).join("|");
  const pattern = new RegExp(`(?<![A-Za-z])(${alternatives})(?=s?(?![A-Za-z])|cluster)`, "gi");
  return (text) =>
    text.replace(pattern, (word) => {
      const to = words[word.toLowerCase()] ?? word;
      return word[0] === word[0]?.toLowerCase() ? to : to[0]?.toUpperCase() + to.slice(1);
    });
}

/** Renames words that only name scope areas and event actions. */
export interface ScopeRenaming {
  /** In scopes: `scripts:read_only`, `monitor`. Longer words such as `stackscripts:view` stay the same. */
  readonly scopes: RenameString;
  /** In event actions: `script_create`. The word without an action is the name of a member and stays the same. */
  readonly actions: RenameString;
}

/**
 * Creates the functions that rename scopes and event actions.
 *
 * @param words all product words of the service
 * @param scopeWords the words that only name scope areas and event actions
 */
export function scopeRenaming(words: ProductWords, scopeWords: readonly string[]): ScopeRenaming {
  const changed = scopeWords.filter((word) => Object.hasOwn(words, word) && words[word] !== word);
  if (changed.length === 0) return { scopes: (text) => text, actions: (text) => text };
  const alternatives = changed.join("|");
  const replace =
    (pattern: RegExp): RenameString =>
    (text) =>
      text.replace(pattern, (word) => words[word] ?? word);
  return {
    scopes: replace(new RegExp(`(?<![A-Za-z_])(?:${alternatives})(?=s?(?![A-Za-z_]))`, "g")),
    actions: replace(new RegExp(`^(?:${alternatives})(?=_)`)),
  };
}

/** Renames all strings of a JSON value, its keys included. */
export function renameDeep<T>(value: T, rename: RenameString): T {
  if (typeof value === "string") return rename(value) as T;
  if (Array.isArray(value)) return value.map((item) => renameDeep(item, rename)) as T;
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(
    ([key, item]) => [rename(key), renameDeep(item, rename)] as const,
  );
  return Object.fromEntries(entries) as T;
}
