import type { SecretNames } from "./secret-names.ts";

export const REDACTED = "[redacted]";
const TOO_DEEP = "[too deep]";
const DEPTH = 64;

/** The redaction of one body. It stops building when it has more than will be kept. */
export interface RedactWalk {
  readonly value: (value: unknown) => unknown;
  readonly text: (text: string) => string;
  readonly pairs: (text: string) => string;
  /** Whether the result is over the limit, and not all of the body was visited. */
  readonly spent: () => boolean;
}

/** @param limit Bytes: what lies behind them is cut off anyway, and is not copied. */
export function redactWalk(secrets: SecretNames, limit: number): RedactWalk {
  // Counted in UTF-16 units, of which no text has more than it has bytes of UTF-8.
  let left = limit;

  function visit(value: unknown, depth: number): unknown {
    left -= 1;
    if (typeof value === "string") return visitText(value, depth);
    if (typeof value === "bigint") return value.toString();
    if (value === null || typeof value !== "object" || isRawJson(value)) return value;
    if (depth >= DEPTH) return TOO_DEEP;
    return Array.isArray(value) ? visitItems(value, depth) : visitMembers(value, depth);
  }

  function visitItems(items: readonly unknown[], depth: number): unknown[] {
    const kept: unknown[] = [];
    for (const item of items) {
      if (left < 0) break;
      kept.push(visit(item, depth + 1));
    }
    return kept;
  }

  function visitMembers(members: object, depth: number): object {
    const kept: [string, unknown][] = [];
    for (const [name, value] of Object.entries(members)) {
      if (left < 0) break;
      left -= name.length;
      kept.push([name, secrets.has(name) ? concealed(value) : visit(value, depth + 1)]);
    }
    // Not by assignment: a member `__proto__` has to stay a mere member.
    return Object.fromEntries(kept);
  }

  /** An absent value tells nothing, and that it was absent is worth knowing. */
  function concealed(value: unknown): unknown {
    left -= REDACTED.length;
    return value === null || value === undefined ? value : REDACTED;
  }

  function visitText(whole: string, depth: number): string {
    const text = whole.slice(0, Math.max(left, 0));
    left -= whole.length;
    if (/^\s*[{["]/.test(text)) return visitJsonText(text, depth);
    if (!/[=:>"']/.test(text)) return text;
    return text.includes("=") && !/[\s"'{}<>]/.test(text) ? visitPairs(text, depth) : scrub(text);
  }

  /** JSON inside a string, as in filters and in user data. */
  function visitJsonText(text: string, depth: number): string {
    if (depth >= DEPTH) return TOO_DEEP;
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      return scrub(text);
    }
    left += text.length;
    const kept = JSON.stringify(visit(parsed, depth + 1));
    // Where nothing was taken out the text stays as it came, spaces and all digits of numbers included.
    return kept === JSON.stringify(parsed) ? text : kept;
  }

  /**
   * Text of no known form, a cut JSON body among them: nothing tells where a secret ends in it, so
   * everything behind the first secret name goes.
   */
  function scrub(text: string): string {
    const readable = text.replaceAll(/\\+u([0-9a-f]{4})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    const at = secrets.firstIn(readable);
    return at === -1 ? text : readable.slice(0, at) + REDACTED;
  }

  /** `name=value` pairs between any of the separators of URLs, forms and cookies. */
  function visitPairs(text: string, depth: number): string {
    return text
      .split(/([?&#;,\s])/)
      .map((piece) => {
        const equals = piece.indexOf("=");
        if (equals === -1) return piece;
        const name = piece.slice(0, equals);
        const value = piece.slice(equals + 1);
        return `${name}=${isSecretKey(decoded(name)) ? REDACTED : visitPairValue(value, depth)}`;
      })
      .join("");
  }

  /** `server[root_pass]` and `server.root_pass` name the same member. */
  function isSecretKey(key: string): boolean {
    return key.split(/[[\]./]/).some((part) => part !== "" && secrets.has(part));
  }

  function visitPairValue(value: string, depth: number): string {
    if (depth >= DEPTH) return TOO_DEEP;
    const text = decoded(value);
    left += text.length;
    const kept = visitText(text, depth + 1);
    return kept === text ? value : encodeURIComponent(kept);
  }

  return {
    value: (value) => visit(value, 0),
    text: (text) => visitText(text, 0),
    pairs: (text) => visitPairs(text, 0),
    spent: () => left < 0,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

/** A number that a parser kept by its digits (`JSON.rawJSON`). */
function isRawJson(value: object): boolean {
  const json = JSON as { isRawJSON?: (value: unknown) => boolean };
  return json.isRawJSON?.(value) === true;
}

/** The beginning of a text, of at most so many bytes of UTF-8, without a torn character at its end. */
export function cutBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  return new TextDecoder().decode(Buffer.from(text).subarray(0, limit), { stream: true });
}
