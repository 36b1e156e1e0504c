import type { Regex } from "../../regex/index.ts";
import type { Callable } from "../call.ts";
import { Failure } from "../failure.ts";
import { tick } from "../guard.ts";
import { sequence, type List } from "../sequence.ts";
import { callBack } from "./higher-order.ts";

/** Regular expressions, which are functions in JSONata: any function that gives matches can stand for one. */

interface Match {
  readonly match: string;
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
  readonly next: () => Match | undefined;
}

/** The function that `/ … /` is, of two arguments to whoever counts them. The pattern has the flag g. */
export function matcher(
  makeRegex: () => Regex,
  position: number,
): (text: string, from?: number) => Match | undefined {
  const regex = makeRegex();
  return function matchFrom(text, from) {
    regex.lastIndex = from ?? 0;
    const found = regex.exec(text);
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
        if (next?.match === "") throw new Failure("D1004", position);
        return next;
      },
    };
  };
}

/** Whether a string matches `/ … /`: what {@link contains} answers, without a match to look at. */
export function matches(text: string, pattern: Regex): boolean {
  pattern.lastIndex = 0;
  return pattern.test(text);
}

function checked(found: unknown): Match | undefined {
  const match = found as Partial<Match> | null | undefined;
  if (!match) return match as undefined;
  const isMatch =
    typeof match.start === "number" || Array.isArray(match.groups) || typeof match.next === "function";
  if (!isMatch) throw new Failure("T1010");
  return match as Match;
}

/** All matches, one after the other; who takes only some has asked for one more. */
function* matchesOf(called: Callable, text: string): Generator<Match, void> {
  let match = checked(callBack(called, [text]));
  while (match !== undefined) {
    yield match;
    tick();
    match = checked(callBack(match.next, []));
  }
}

export function contains(text?: string, token?: string | Callable): boolean | undefined {
  if (text === undefined || token === undefined) return undefined;
  if (typeof token === "string") return text.includes(token);
  return checked(callBack(token, [text])) !== undefined;
}

export function match(text?: string, token?: Callable, limit = Infinity): List | undefined {
  if (text === undefined) return undefined;
  if (limit < 0) throw new Failure("D3040");
  const found = sequence();
  if (limit === 0) return found;
  for (const { match: whole, start, groups } of matchesOf(token as Callable, text)) {
    if (found.length >= limit) break;
    found.push({ match: whole, index: start, groups });
  }
  return found;
}

export function split(text?: string, separator?: string | Callable, limit?: number): unknown[] | undefined {
  if (text === undefined) return undefined;
  const most = limit ?? Infinity;
  if (most < 0) throw new Failure("D3020");
  if (!(most > 0)) return [];
  if (typeof separator === "string") return text.split(separator, limit);
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of matchesOf(separator as Callable, text)) {
    if (parts.length >= most) return parts;
    parts.push(text.slice(from, start));
    from = end;
  }
  if (parts.length < most) parts.push(text.slice(from));
  return parts;
}

/** Puts a match into a replacement: `$0` is all of it, `$1` its first group, `$$` a dollar. */
function filledIn(replacement: string, { match: whole, groups }: Match): string {
  const digits = groups.length === 0 ? 1 : Math.floor(Math.log10(groups.length)) + 1;
  let filled = "";
  let from = 0;
  for (let at = replacement.indexOf("$"); at !== -1; at = replacement.indexOf("$", from)) {
    filled += replacement.slice(from, at);
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

/** Replaces a text wherever it stands, `limit` times at most. */
export function replaceText(text: string, token: string, replacement: unknown, limit = Infinity): string {
  let result = "";
  let from = 0;
  let at = text.indexOf(token);
  for (let count = 0; at !== -1 && count < limit; count += 1) {
    result += text.slice(from, at) + String(replacement);
    from = at + token.length;
    at = text.indexOf(token, from);
  }
  return result + text.slice(from);
}

function replaceMatches(text: string, token: Callable, replacement: unknown, limit: number): string {
  let result = "";
  let from = 0;
  let count = 0;
  for (const found of matchesOf(token, text)) {
    if (count >= limit) break;
    const substitute =
      typeof replacement === "string"
        ? filledIn(replacement, found)
        : callBack(replacement as Callable, [found]);
    if (typeof substitute !== "string") throw new Failure("D3012");
    result += text.slice(from, found.start) + substitute;
    from = found.start + found.match.length;
    count += 1;
  }
  return result + text.slice(from);
}

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
