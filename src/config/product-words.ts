/**
 * The service's own product words.
 *
 * Mappings, code and documents write two neutral words (`vm`, `orch`); a real service spells them
 * differently. A renaming is applied once, when data is loaded, to every string of it: path segments,
 * list names, scope areas, field names, enum members, id prefixes and event actions alike.
 */

/** From neutral word to the service's word, e.g. `{ vm: "acme", orch: "acmeks" }`. */
export type ProductWords = Readonly<Record<string, string>>;

/** A function that renames every neutral word in one string. */
export type RenameString = (text: string) => string;

/**
 * Reads `vm=acme,orch=acmeks`.
 *
 * @throws {Error} on anything that is not a list of `word=word`, lower-case letters and digits, a letter first.
 */
export function parseProductWords(text: string): ProductWords {
  const words: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const pair of text.split(",")) {
    const match = /^\s*([a-z][a-z0-9]*)=([a-z][a-z0-9]*)\s*$/.exec(pair);
    if (!match?.[1] || !match[2]) throw new Error(`"${pair}" is not word=word, e.g. vm=acme,orch=acmeks`);
    if (match[1] in words) throw new Error(`"${match[1]}" is given twice`);
    words[match[1]] = match[2];
  }
  return words;
}

/**
 * Makes the renaming of one string.
 *
 * @param scopeWords words that `scopeRenaming` renames, and this function doesn't
 *
 * A word counts where it stands by itself between anything but letters (`vm_id`, `add_vms`, `vm/debian8`,
 * `vm2048`), in the plural, in front of `cluster` (v4 writes `orchcluster_id`), and with a capital (`Vms`).
 * Longer words that merely contain it (`vmlinuz`, `orchestra`) are left alone.
 */
export function createRenamer(words: ProductWords, scopeWords: readonly string[] = []): RenameString {
  const changed = Object.entries(words).filter(([from, to]) => from !== to && !scopeWords.includes(from));
  if (changed.length === 0) return (text) => text;
  const names = changed.map(([from]) => from).join("|");
  const pattern = new RegExp(`(?<![A-Za-z])(${names})(?=s?(?![A-Za-z])|cluster)`, "gi");
  return (text) =>
    text.replace(pattern, (found) => {
      const to = words[found.toLowerCase()] ?? found;
      return found[0] === found[0]?.toLowerCase() ? to : to[0]?.toUpperCase() + to.slice(1);
    });
}

/** Renamings of words that stand for scope areas and event actions alone. */
export interface ScopeRenaming {
  /** In texts of scopes: `scripts:read_only`, `monitor`, `stackscripts:view` (another word, left alone). */
  readonly scopes: RenameString;
  /** In names of event actions: `script_create`. The word by itself is a member's name, and stays. */
  readonly actions: RenameString;
}

/**
 * Makes the renamings of the words that count nowhere else.
 *
 * @param words all words of the service
 * @param scopeWords those of them that stand for scope areas and event actions alone
 */
export function scopeRenaming(words: ProductWords, scopeWords: readonly string[]): ScopeRenaming {
  const changed = scopeWords.filter((word) => Object.hasOwn(words, word) && words[word] !== word);
  if (changed.length === 0) return { scopes: (text) => text, actions: (text) => text };
  const names = changed.join("|");
  const replace =
    (pattern: RegExp): RenameString =>
    (text) =>
      text.replace(pattern, (found) => words[found] ?? found);
  return {
    scopes: replace(new RegExp(`(?<![A-Za-z_])(?:${names})(?=s?(?![A-Za-z_]))`, "g")),
    actions: replace(new RegExp(`^(?:${names})(?=_)`)),
  };
}

/** Renames every string of a JSON-like value, keys included. Returns the value itself when nothing is to do. */
export function renameDeep<T>(value: T, rename: RenameString): T {
  if (typeof value === "string") return rename(value) as T;
  if (Array.isArray(value)) return value.map((item) => renameDeep(item, rename)) as T;
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(
    ([key, item]) => [rename(key), renameDeep(item, rename)] as const,
  );
  return Object.fromEntries(entries) as T;
}
