import { secretsBehindScheme } from "../../pack/index.ts";
import { isTextType, readSentBody, type SentBody } from "../record/client-body.ts";
import { JsonText, tryParse } from "../record/json-text.ts";
import type { RecordedBody } from "../record/record.ts";
import { omittedBody, truncatedBody, truncateUtf8 } from "../record/truncate.ts";
import { REDACTED } from "./edits.ts";
import { hasValueMember } from "./find-names.ts";
import { looksLikePairs } from "./redact-pairs.ts";
import { parseWhole, RedactionWalk } from "./redact-walk.ts";
import { type SecretNames, secretNames } from "./secret-names.ts";
import { NEEDLE_LENGTH, SecretValues } from "./secret-values.ts";
import type { SentTexts } from "./sent-texts.ts";

export interface RedactionOptions {
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
/** Minimum length of a token. Services do not issue shorter tokens, and any text could contain them. */
const MIN_TOKEN_LENGTH = 8;

const UNPARSED = "secrets in a text that is no JSON and no form";

/**
 * Removes secrets from records. An exchange is processed in two passes:
 *
 * 1. Find: `find` reads the client's request, and `addFrom` and similar methods add the other messages. One
 *    `SecretValues` then contains the tokens and all values with a secret name.
 * 2. Redact: each text and each body is passed to one of the other methods, with these values. All their occurrences
 *    are replaced, in addition to values with a secret name.
 *
 * Bodies of v4 are only searched while they are redacted. If this adds values, `redactMessages` of
 * `gateway/record/create-record.ts` redacts all texts again.
 *
 * Both passes use a `RedactionWalk`: the first uses the values that it finds, the second the text that it returns.
 * `secret-names.ts` defines the secret names. No method throws or changes its arguments. The time of each method is
 * proportional to the length of the text.
 *
 * A body is redacted before it is truncated, so that no part of a secret remains. A body that contains the name of a
 * secret and can't be parsed is not recorded.
 */
export class Redaction {
  /** Maximum number of bytes of a body that is searched. A longer body may contain unknown secrets. */
  readonly maxSearched: number;
  readonly #names: SecretNames;
  readonly #limit: number;
  readonly #literals: ReadonlySet<string> | undefined;

  constructor({ names, bodyLimit, literals }: RedactionOptions) {
    this.#names = secretNames(names);
    this.maxSearched = Math.max(MIN_SEARCHED, bodyLimit);
    this.#limit = bodyLimit;
    this.#literals = literals;
  }

  // First pass: find the secrets.

  /** Starts with the tokens, and with the values of secret names in the client's request. */
  find(sent: SentTexts, tokens: readonly (string | undefined)[] = []): SecretValues {
    const found = new SecretValues();
    for (const token of tokens)
      if (token !== undefined && token.length >= MIN_TOKEN_LENGTH) found.addToken(token);
    this.addFrom(sent, found);
    return found;
  }

  /** Adds the secret values of a further message. */
  addFrom(
    { path = "", isRoute = false, query = "", texts: recorded = [], headers = {}, body }: SentTexts,
    found: SecretValues,
  ): void {
    this.#search(found, (walk) => {
      found.fromBody(false);
      walk.path(path, isRoute);
      walk.pairs(query);
      for (const text of recorded) if (text !== undefined) walk.text(text);
      for (const name in headers) {
        // The tokens are known. A scheme before a token would become a part of the value.
        if (name === "authorization") continue;
        const isSecret = this.#names.has(name);
        const add = (text: string): unknown => (isSecret ? addHeader(name, text, found) : walk.text(text));
        const texts = headers[name];
        if (typeof texts === "string") add(texts);
        else texts?.forEach(add);
      }
      found.fromBody(true);
      if (body && this.#names.maybeInBytes(body.bytes)) this.#findInBody(body, walk, found);
    });
  }

  #findInBody(body: SentBody, walk: RedactionWalk, found: SecretValues): void {
    if (body.bytes.byteLength > this.maxSearched) return found.markIncomplete();
    const read = readSentBody(body);
    if ("form" in read) walk.value(read.form);
    else if ("text" in read) walk.body(read.text);
    else if (isTextType(body.type)) found.markIncomplete();
  }

  /** Adds the secret values of a parsed JSON body. */
  addFromValue(parsed: unknown, found: SecretValues): void {
    const text = JSON.stringify(parsed);
    if (text !== undefined) this.addFromText(text, found);
  }

  /** Adds the secret values of a body, which may be JSON. The whole body is searched, since its size is limited. */
  addFromText(text: string, found: SecretValues): void {
    if (!this.#names.maybeIn(text)) return;
    this.#search(found, (walk) => walk.body(text));
  }

  /** Whether a text may contain a value with a secret name. Has no false negatives. */
  mayHaveSecrets(text: string): boolean {
    return this.#names.maybeIn(text);
  }

  /** Searches a text. If it could not be searched, it may contain unknown secrets. */
  #search(found: SecretValues, visit: (walk: RedactionWalk) => void): void {
    if (!found.isComplete) return;
    try {
      visit(new RedactionWalk({ names: this.#names, found }));
    } catch {
      found.markIncomplete();
    }
  }

  // Second pass: redact the short texts of an exchange, then its bodies.

  /** Redacts a query string, or an urlencoded form. */
  query(text: string, values?: SecretValues): string {
    return this.#short(values, (walk) => walk.pairs(text));
  }

  /**
   * Redacts a path without a query. `isRoute`: the path is one of the pack's. Its literals, ids and plain words are
   * kept, even if the client sends them as secrets.
   */
  path(text: string, isRoute: boolean, values?: SecretValues): string {
    return this.#short(values, (walk) => walk.path(text, isRoute));
  }

  /** Redacts the path of a v4 call, with its query. */
  target(text: string, values?: SecretValues): string {
    const question = text.indexOf("?");
    if (question === -1) return this.path(text, true, values);
    return `${this.path(text.slice(0, question), true, values)}?${this.query(text.slice(question + 1), values)}`;
  }

  /** Redacts any other text of a client, such as a filter header or a `User-Agent`. */
  text(text: string, values?: SecretValues): string {
    return this.#short(values, (walk) => walk.text(text));
  }

  #short(values: SecretValues | undefined, redact: (walk: RedactionWalk) => string): string {
    try {
      return truncateUtf8(redact(this.#walk(values)), this.#limit);
    } catch {
      return REDACTED;
    }
  }

  /**
   * Redacts valid JSON in UTF-8. It is only parsed if it may contain secrets. Values with a secret name are added to
   * `values`. If `values` has grown, earlier results must be redacted again.
   */
  json(bytes: Buffer, values?: SecretValues): RecordedBody {
    return guarded(bytes.length, values, () => {
      const [limit, { length }] = [this.#limit, bytes];
      // The whole body is searched, because any text of the exchange may contain a secret that is after the limit.
      const hasNames = this.#names.maybeInBytes(bytes);
      // A value may start before the limit and end after it: its start is sufficient. A character consists of up to 3 bytes.
      if (hasNames || values?.maybeIn(bytes.toString("utf8", 0, limit + 3 * NEEDLE_LENGTH)))
        return this.#text(bytes.toString(), length, values, hasNames ? values : undefined);
      if (length <= limit) return new JsonText(bytes);
      return truncatedBody(bytes.toString("utf8", 0, limit + 3), limit, length);
    });
  }

  /** Redacts a parsed JSON body. `bytes` is its original length, for the mark of a truncated body. */
  value(parsed: unknown, bytes?: number, values?: SecretValues): RecordedBody {
    if (parsed === undefined) return undefined;
    return guarded(bytes, values, () => this.#value(parsed, bytes, values));
  }

  /** Redacts a client's body: JSON, a form, or text in UTF-8. For any other body only the length is recorded. */
  body(sent: SentBody, values?: SecretValues): RecordedBody {
    const { byteLength } = sent.bytes;
    if (byteLength === 0) return undefined;
    return guarded(byteLength, values, () => {
      const read = readSentBody(sent);
      if ("why" in read) return omittedBody(byteLength, read.why);
      return "form" in read
        ? this.#value(read.form, byteLength, values)
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
      if (hasValueMember(text) || this.#walk().text(text) !== text) return omittedBody(length, UNPARSED);
      const limit = Math.min(this.#limit, this.maxSearched - UNRECORDED_END);
      return truncatedBody(values?.redact(text) ?? text, limit, length);
    });
  }

  #value(parsed: unknown, bytes: number | undefined, values: SecretValues | undefined): RecordedBody {
    return this.#limited(this.#walk(values).value(parsed), bytes);
  }

  /**
   * Redacts an unparsed body. A JSON body without secrets is recorded unchanged, because numbers may have more digits
   * than a double. @param found receives the secret values of the body, which may occur anywhere in it
   */
  #text(text: string, bytes: number, values?: SecretValues, found?: SecretValues): RecordedBody {
    const parsed = parseWhole(text);
    if (!parsed) return this.#unparsed(text, bytes, values, found);
    const before = found?.size;
    // An escape may hide a value.
    const mayHaveValues = values?.maybeIn(text) === true || text.includes("\\");
    const redacted = this.#walk(mayHaveValues ? values : undefined, found).value(parsed.value);
    if (redacted === parsed.value && bytes <= this.#limit) return new JsonText(text);
    if (values?.whyIncomplete !== undefined) return omittedBody(bytes, values.whyIncomplete);
    return found?.size === before ? this.#limited(redacted, bytes) : this.#value(parsed.value, bytes, values);
  }

  /** Redacts pairs, and text in other formats if it contains no name of a secret. */
  #unparsed(text: string, bytes: number, values?: SecretValues, found?: SecretValues): RecordedBody {
    if (looksLikePairs(text)) return this.#limited(this.#walk(values).text(text), bytes);
    if (this.#walk(undefined, found).text(text) !== text)
      return omittedBody(bytes, values?.whyIncomplete ?? UNPARSED);
    const recorded = values?.redact(text) ?? text;
    // The text is JSON with a duplicate member.
    if (recorded === text && bytes <= this.#limit && tryParse(text)) return new JsonText(text);
    return this.#limited(recorded, bytes);
  }

  #limited(redacted: unknown, bytes: number | undefined): RecordedBody {
    const json = JSON.stringify(redacted);
    if (Buffer.byteLength(json) <= this.#limit) return redacted;
    return truncatedBody(typeof redacted === "string" ? redacted : json, this.#limit, bytes);
  }

  #walk(values?: SecretValues, found?: SecretValues): RedactionWalk {
    return new RedactionWalk({ names: this.#names, literals: this.#literals, values, found });
  }
}

/** Adds the values of a header with a secret name, with and without a scheme. In Set-Cookie, only the first pair is used. */
function addHeader(name: string, text: string, found: SecretValues): void {
  for (const pair of text.split(";").slice(0, name === "set-cookie" ? 1 : Infinity))
    found.add(pair.slice(pair.indexOf("=") + 1).trim());
  found.add([text, ...secretsBehindScheme(text)]);
}

/** Replaces values that can't be redacted. An accessor that throws must not end a request. */
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
