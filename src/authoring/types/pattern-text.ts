/** The shortest text of a plain pattern, such as `^u-[0-9]+$`. */

/** An atom and how often it comes. */
const PIECE = /(\\.|\[(?:\\.|[^\]\\]){0,200}\]|[^\\[])(?:\{(\d{1,3})(?:,\d*)?\}|([+*?]))?/gu;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\\d", "1"],
  ["\\w", "a"],
  ["\\s", " "],
]);

/** A character of an atom: itself, or the first one of a class. */
function characterOf(atom: string): string {
  if (atom === ".") return "a";
  if (atom.startsWith("[^")) return "~";
  const [first = ""] = /^(?:\\.|.)/u.exec(atom.startsWith("[") ? atom.slice(1) : atom) ?? [];
  return ESCAPES.get(first) ?? first.replace("\\", "");
}

/**
 * Returns a text that a pattern probably has: who uses it tests that. Undefined for a pattern with groups, which is
 * not read.
 */
export function textOfPattern(pattern: string): string | undefined {
  const inner = pattern.replace(/^\^/u, "").replace(/\$$/u, "");
  if (/[()|]/u.test(inner.replaceAll(/\\.|\[(?:\\.|[^\]\\]){0,200}\]/gu, ""))) return undefined;
  return [...inner.matchAll(PIECE)]
    .map(([, atom = "", times, sign]) =>
      characterOf(atom).repeat(Number(times ?? (sign === "*" || sign === "?" ? 0 : 1))),
    )
    .join("");
}
