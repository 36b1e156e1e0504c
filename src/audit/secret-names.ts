/** Which member names hold secrets, and where such names stand in text that cannot be read as anything. */
export interface SecretNames {
  /** Whether a member of this name is a secret, whatever its case and its `-` and `_`. */
  readonly has: (name: string) => boolean;
  /** Where the first secret name with something behind it stands in the text, or -1. */
  readonly firstIn: (text: string) => number;
  /** Whether a secret name could stand anywhere in the text, as it is or escaped. Quick, and never wrongly false. */
  readonly maybeIn: (text: string) => boolean;
}

/** Names seen before, so that a list of records costs one look-up for each name. */
const REMEMBERED = 4096;
const LONGEST = 128;

/** What letters of a name can be hidden behind: percent-encoding, and JSON's escapes at any depth. */
const ESCAPES = ["%", "\\u", "\\U"];

/** @param names As the pack spells them, e.g. `["root_pass", "card_number"]`. */
export function secretNames(names: readonly string[]): SecretNames {
  const plain = new Set(names.map(plainName).filter((name) => name !== ""));
  const seen = new Map<string, boolean>();
  const pattern = namePattern(plain);
  const anywhere = anyName(plain);

  function has(name: string): boolean {
    const known = seen.get(name);
    if (known !== undefined) return known;
    const secret = plain.has(plainName(name));
    // Clients choose names: neither their number nor their length may grow the memory.
    if (seen.size >= REMEMBERED) seen.clear();
    if (name.length <= LONGEST) seen.set(name, secret);
    return secret;
  }

  function firstIn(text: string): number {
    return pattern ? text.search(pattern) : -1;
  }

  function maybeIn(text: string): boolean {
    if (!anywhere) return false;
    return ESCAPES.some((escape) => text.includes(escape)) || anywhere.test(text);
  }

  return { has, firstIn, maybeIn };
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}

/**
 * A name counts where a value can follow: before `:`, `=` and `>` (also percent-encoded, quoted or escaped),
 * and before a quotation mark alone, as in the `name="…"` of a multipart part.
 */
function namePattern(names: ReadonlySet<string>): RegExp | undefined {
  if (names.size === 0) return undefined;
  const spelt = [...names].map((name) => name.split("").map(literally).join("[-_]*"));
  return new RegExp(`(?:${spelt.join("|")})(?:["'\\\\]|%22|%27|\\s*(?:[:=>]|%3A|%3D))`, "i");
}

/**
 * All names in one pattern that looks at each letter once: what they begin with alike stands in it once. Between
 * letters stand the signs that a spelling may have there.
 */
function anyName(names: ReadonlySet<string>): RegExp | undefined {
  return names.size === 0 ? undefined : new RegExp(beginnings([...names]), "iu");
}

function beginnings(names: readonly string[]): string {
  // A name that ends here is found, whatever follows.
  if (names.includes("")) return "";
  const letters = new Set(names.map(([letter = ""]) => letter));
  const branches = [...letters].map((letter) => {
    const rest = beginnings(names.filter((name) => name.startsWith(letter)).map((name) => name.slice(1)));
    return rest === "" ? literally(letter) : `${literally(letter)}[-_]*${rest}`;
  });
  return `(?:${branches.join("|")})`;
}

function literally(letter: string): string {
  return /[a-z0-9]/.test(letter) ? letter : `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
