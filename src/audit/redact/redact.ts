import { readSentBody, type SentBody } from "../record/client-body.ts";
import { JsonText, tryParse } from "../record/json-text.ts";
import type { RecordedBody } from "../record/record.ts";
import { omittedBody, truncatedBody, truncateUtf8 } from "../record/truncate.ts";
import { REDACTED } from "./edits.ts";
import { VALUE_MEMBER } from "./find-names.ts";
import { looksLikePairs } from "./pairs.ts";
import { parseWhole, RedactionWalk } from "./redact-walk.ts";
import { type SecretNames, secretNames } from "./secret-names.ts";
import { SecretSearch } from "./secret-search.ts";
import { NEEDLE_LENGTH, type SecretValues } from "./secret-values.ts";

interface RedactionOptions {
  /** Names of members whose values are secret, in any spelling (`secretNames`). */
  readonly names: readonly string[];
  /** Maximum number of bytes of a recorded body, as JSON text. Longer bodies are truncated. */
  readonly bodyLimit: number;
  /** Segments of paths that the dialects define. They are kept, even if a client's secret is the same text. */
  readonly literals?: ReadonlySet<string>;
}

/** Minimum of the maximum number of searched bytes. Searching a megabyte would delay all other requests. */
const MIN_SEARCHED = 65_536;
/**
 * Number of characters at the end of a long body that may contain the start of a token or of another value. They are
 * searched, but not recorded.
 */
const UNRECORDED_END = 128 * NEEDLE_LENGTH;
const UNPARSED = "secrets in a text that is no JSON and no form";

/**
 * Removes secrets from records. An exchange is processed in two passes:
 *
 * 1. Find: `search` reads all messages. One `SecretValues` then contains the tokens and all values with a secret name.
 * 2. Redact: each text and each body is passed to one of the methods of this class, with these values. All their
 *    occurrences are replaced, in addition to values with a secret name.
 *
 * Both passes use a `RedactionWalk`. `secret-names.ts` defines the secret names. No method throws or changes its
 * arguments, except that `SecretValues` are marked as incomplete if comparing them with a text takes too much work. The time of
 * each method is proportional to the length of the text.
 *
 * A body is redacted before it is truncated, so that no part of a secret remains. A body that contains the name of a
 * secret and can't be parsed is not recorded.
 */
export class Redaction {
  readonly search: SecretSearch;
  readonly #names: SecretNames;
  readonly #limit: number;
  readonly #literals: ReadonlySet<string> | undefined;

  constructor({ names, bodyLimit, literals }: RedactionOptions) {
    this.#names = secretNames(names);
    this.search = new SecretSearch(this.#names, Math.max(MIN_SEARCHED, bodyLimit));
    this.#limit = bodyLimit;
    this.#literals = literals;
  }

  // The short texts of an exchange.

  /** Redacts a query string, or an urlencoded form. */
  query(text: string, values?: SecretValues): string {
    return this.#short(() => this.#walk(values).pairs(text));
  }

  /**
   * Redacts a path without a query. `isRoute`: the path is one of the pack's. Its literals, ids and plain words are
   * kept, even if the client sends them as secrets.
   */
  path(text: string, isRoute: boolean, values?: SecretValues): string {
    return this.#short(() => this.#walk(values).path(text, isRoute));
  }

  /** Redacts the path of a v4 call, with its query. */
  target(text: string, values?: SecretValues): string {
    const question = text.indexOf("?");
    if (question === -1) return this.path(text, true, values);
    return `${this.path(text.slice(0, question), true, values)}?${this.query(text.slice(question + 1), values)}`;
  }

  /** Redacts any other text of a client, such as a filter header or a `User-Agent`. */
  text(text: string, values?: SecretValues): string {
    return this.#short(() => this.#walk(values).text(text));
  }

  #short(redact: () => string): string {
    try {
      return truncateUtf8(redact(), this.#limit);
    } catch {
      return REDACTED;
    }
  }

  // Bodies.

  /** Redacts valid JSON in UTF-8. It is only parsed if it may contain secrets. */
  json(bytes: Buffer, values?: SecretValues): RecordedBody {
    const { length } = bytes;
    return guarded(length, values, () => {
      // A value may start before the limit and end after it: its start is sufficient. A character consists of up to 3 bytes.
      const start = (): string => bytes.toString("utf8", 0, this.#limit + 3 * NEEDLE_LENGTH);
      // A name after the limit may be the reason why a value before it is secret.
      const hasNames = !values?.bodiesWithoutNames.has(bytes) && this.#names.maybeInBytes(bytes);
      if (hasNames || values?.maybeIn(start())) return this.#text(bytes.toString(), length, values);
      if (length <= this.#limit) return new JsonText(bytes);
      return truncatedBody(bytes.toString("utf8", 0, this.#limit + 3), this.#limit, length);
    });
  }

  /** Redacts a parsed JSON body. `bytes` is its original length, for the mark of a truncated body. */
  value(parsed: unknown, bytes?: number, values?: SecretValues): RecordedBody {
    if (parsed === undefined) return undefined;
    return guarded(bytes, values, () => this.#limited(this.#walk(values).value(parsed), bytes));
  }

  /** Redacts a client's body: JSON, a form, or text in UTF-8. For any other body only the length is recorded. */
  body(sent: SentBody, values?: SecretValues): RecordedBody {
    const { byteLength } = sent.bytes;
    if (byteLength === 0) return undefined;
    return guarded(byteLength, values, () => {
      const read = readSentBody(sent);
      if ("why" in read) return omittedBody(byteLength, read.why);
      return "form" in read
        ? this.value(read.form, byteLength, values)
        : this.#text(read.text, byteLength, values);
    });
  }

  /** Redacts an unparsed body. It is recorded as JSON if it is JSON, otherwise as text. */
  raw(body: string | Uint8Array, values?: SecretValues): RecordedBody {
    const text = typeof body === "string" ? body : new TextDecoder().decode(body);
    if (text === "") return undefined;
    const bytes = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
    return guarded(bytes, values, () => this.#text(text, bytes, values));
  }

  /** Redacts the start of a body. @param length Size of the whole body in bytes. */
  start(bytes: Uint8Array, length: number, values?: SecretValues): RecordedBody {
    return guarded(length, values, () => {
      const text = new TextDecoder().decode(bytes);
      if (VALUE_MEMBER.test(text) || this.#walk().text(text) !== text) return omittedBody(length, UNPARSED);
      const limit = Math.min(this.#limit, this.search.maxSearched - UNRECORDED_END);
      return truncatedBody(values?.redact(text) ?? text, limit, length);
    });
  }

  /**
   * Redacts an unparsed body: JSON, pairs, or text in another format if it contains no name of a secret. A JSON body
   * without secrets is recorded unchanged, because numbers may have more digits than a double.
   */
  #text(text: string, bytes: number, values: SecretValues | undefined): RecordedBody {
    const parsed = parseWhole(text);
    if (!parsed && !looksLikePairs(text) && this.#walk().text(text) !== text)
      return omittedBody(bytes, UNPARSED);
    // An escape may hide a value.
    const mayHaveValues = !parsed || values?.maybeIn(text) === true || text.includes("\\");
    const walk = this.#walk(mayHaveValues ? values : undefined);
    const redacted = parsed ? walk.value(parsed.value) : walk.text(text);
    const isSame = redacted === (parsed ? parsed.value : text);
    // A text that is not parsed may also be JSON: with a duplicate member, or with too many values.
    if (isSame && bytes <= this.#limit && (parsed || tryParse(text))) return new JsonText(text);
    return values?.whyIncomplete === undefined
      ? this.#limited(redacted, bytes)
      : omittedBody(bytes, values.whyIncomplete);
  }

  #limited(redacted: unknown, bytes: number | undefined): RecordedBody {
    const json = JSON.stringify(redacted);
    if (Buffer.byteLength(json) <= this.#limit) return redacted;
    return truncatedBody(typeof redacted === "string" ? redacted : json, this.#limit, bytes);
  }

  #walk(values?: SecretValues): RedactionWalk {
    return new RedactionWalk({ names: this.#names, literals: this.#literals, values });
  }
}

/** Replaces a body that can't be redacted, or takes too much work. An accessor that throws must not end a request. */
function guarded(
  bytes: number | undefined,
  values: SecretValues | undefined,
  redact: () => RecordedBody,
): RecordedBody {
  try {
    return values?.whyIncomplete === undefined ? redact() : omittedBody(bytes, values.whyIncomplete);
  } catch {
    values?.markIncomplete();
    return REDACTED;
  }
}
