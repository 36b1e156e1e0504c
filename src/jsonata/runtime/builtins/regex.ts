import type { Regex } from "../../regex/index.ts";
import { call, type Callable } from "../call.ts";
import { Failure } from "../failure.ts";
import { checkItems, checkText, tick } from "../guard.ts";

/** A match. In JSONata a regular expression is a function, and any function that returns matches can replace one. */
interface Match {
  readonly match: string;
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
  readonly next: () => Match | undefined;
}

/**
 * Creates the function of `/ … /`. It has two parameters, since functions like `$map` check the arity.
 *
 * @param makeRegex Creates an instance of the pattern, which has the flag `g`.
 */
export function createMatcher(makeRegex: () => Regex): (text: string, from?: number) => Match | undefined {
  const regex = makeRegex();
  return function matchFrom(text, from) {
    regex.lastIndex = from ?? 0;
    const found = regex.exec(text);
    tick(regex.work);
    if (!found) return undefined;
    const [match, ...groups] = found;
    return {
      match,
      start: found.index,
      end: found.index + match.length,
      groups,
      next() {
        if (regex.lastIndex >= text.length) return undefined;
        const next = matchFrom(text, regex.lastIndex);
        if (next?.match === "") throw new Failure("D1004");
        return next;
      },
    };
  };
}

function requireMatch(found: unknown): Match | undefined {
  const match = found as Partial<Match> | null | undefined;
  if (!match) return match as undefined;
  const isMatch =
    typeof match.start === "number" || Array.isArray(match.groups) || typeof match.next === "function";
  if (!isMatch) throw new Failure("T1010");
  return match as Match;
}

/** Iterates over all matches. As in JSONata, the next match is searched before a limit is checked. */
function* iterateMatches(called: Callable, text: string): Generator<Match, void> {
  let match = requireMatch(call(called, [text]));
  while (match !== undefined) {
    yield match;
    tick();
    match = requireMatch(call(match.next, []));
  }
}

/** `$contains`: whether a string contains a substring, or matches a pattern. */
export function contains(text?: string, token?: string | Callable): boolean | undefined {
  if (text === undefined || token === undefined) return undefined;
  if (typeof token === "string") return text.includes(token);
  return requireMatch(call(token, [text])) !== undefined;
}

/** `$split`: splits a string at a separator or a pattern. @throws {Failure} D3020 */
export function split(text?: string, separator?: string | Callable, limit?: number): unknown[] | undefined {
  if (text === undefined) return undefined;
  const most = limit ?? Infinity;
  if (most < 0) throw new Failure("D3020");
  if (!(most > 0)) return [];
  if (typeof separator === "string") return text.split(separator, limit);
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of iterateMatches(separator as Callable, text)) {
    if (parts.length >= most) return parts;
    parts.push(text.slice(from, start));
    checkItems(parts.length, "$split");
    from = end;
  }
  if (parts.length < most) parts.push(text.slice(from));
  return parts;
}

/** Expands a replacement: `$0` is the whole match, `$1` its first group, `$$` a dollar sign. */
function expandReplacement(replacement: string, { match: whole, groups }: Match): string {
  const digits = groups.length === 0 ? 1 : Math.floor(Math.log10(groups.length)) + 1;
  let filled = "";
  let from = 0;
  for (let at = replacement.indexOf("$"); at !== -1; at = replacement.indexOf("$", from)) {
    filled += replacement.slice(from, at);
    checkText(filled.length, "$replace");
    from = at + 1;
    const next = replacement.charAt(from);
    if (next === "$" || next === "0") {
      filled += next === "$" ? "$" : whole;
      from += 1;
      continue;
    }
    let index = Number.parseInt(replacement.slice(from, from + digits), 10);
    if (digits > 1 && index > groups.length)
      index = Number.parseInt(replacement.slice(from, from + digits - 1), 10);
    filled += Number.isNaN(index) ? "$" : (groups[index - 1] ?? "");
    if (!Number.isNaN(index)) from += String(index).length;
  }
  return filled + replacement.slice(from);
}

/** Replaces all occurrences of a text, up to `limit`. */
function replaceText(text: string, token: string, replacement: unknown, limit = Infinity): string {
  let result = "";
  let from = 0;
  let at = text.indexOf(token);
  for (let count = 0; at !== -1 && count < limit; count += 1) {
    result += text.slice(from, at) + String(replacement);
    checkText(result.length, "$replace");
    from = at + token.length;
    at = text.indexOf(token, from);
  }
  return result + text.slice(from);
}

function replaceMatches(text: string, token: Callable, replacement: unknown, limit: number): string {
  let result = "";
  let from = 0;
  let count = 0;
  for (const found of iterateMatches(token, text)) {
    if (count >= limit) break;
    if (replacement === undefined) throw new Failure("T1006");
    const substitute =
      typeof replacement === "string" ? expandReplacement(replacement, found) : call(replacement, [found]);
    if (typeof substitute !== "string") throw new Failure("D3012");
    result += text.slice(from, found.start) + substitute;
    checkText(result.length, "$replace");
    from = found.start + found.match.length;
    count += 1;
  }
  return result + text.slice(from);
}

/** `$replace`: replaces a substring or the matches of a pattern. @throws {Failure} T1006, D3010, D3011, D3012 */
export function replace(
  text?: string,
  token?: string | Callable,
  replacement?: string | Callable,
  limit = Infinity,
): string | undefined {
  if (text === undefined) return undefined;
  if (token === "") throw new Failure("D3010");
  if (limit < 0) throw new Failure("D3011");
  if (!(limit > 0)) return text;
  if (typeof token === "string") return replaceText(text, token, replacement, limit);
  return replaceMatches(text, token as Callable, replacement, limit);
}
