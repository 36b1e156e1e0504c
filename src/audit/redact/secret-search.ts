import { secretsBehindScheme } from "../../pack/index.ts";
import { isTextType, readSentBody, type SentBody } from "../record/client-body.ts";
import { RedactionWalk } from "./redact-walk.ts";
import type { SecretNames } from "./secret-names.ts";
import { SecretValues } from "./secret-values.ts";

/** The parts of a request that may contain secrets. */
interface SentTexts {
  readonly path?: string;
  /** Whether the path belongs to one of the pack's routes. Default: false. */
  readonly isRoute?: boolean;
  readonly query?: string;
  /** Values of recorded headers. */
  readonly texts?: readonly (string | undefined)[];
  /** Other headers, by lower-case name. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
  readonly body?: SentBody | undefined;
}

/** Minimum length of a token. Nobody issues shorter ones, and they could be a part of any text. */
const MIN_TOKEN_LENGTH = 8;

/**
 * The first pass of a redaction: it finds the secret values of an exchange. `find` begins with the client's request, and
 * the other methods add the values of other messages. Then `Redaction` replaces them.
 *
 * No method throws or changes its arguments. The time of each is proportional to the length of the text. Where a text
 * can't be searched, the values are marked as incomplete, and no text of the exchange is recorded.
 */
export class SecretSearch {
  /** Bytes of a client's body that is searched. A longer body may contain unknown secrets. */
  readonly maxSearched: number;
  readonly #names: SecretNames;

  constructor(names: SecretNames, maxSearched: number) {
    this.#names = names;
    this.maxSearched = maxSearched;
  }

  /** Begins with the tokens, and with the values of secret names in the client's request. */
  find(sent: SentTexts, tokens: readonly (string | undefined)[] = []): SecretValues {
    const found = new SecretValues();
    for (const token of tokens)
      if (token !== undefined && token.length >= MIN_TOKEN_LENGTH) found.addToken(token);
    this.addFrom(sent, found);
    return found;
  }

  /** Adds the secret values of another message. */
  addFrom(sent: SentTexts, found: SecretValues): void {
    const { path = "", isRoute = false, query = "", texts = [], headers = {}, body } = sent;
    this.#search(found, (walk) => {
      found.isInBody = false;
      walk.path(path, isRoute);
      walk.pairs(query);
      for (const text of texts) walk.value(text);
      for (const [name, lines = []] of Object.entries(headers))
        for (const line of [lines].flat()) this.#addHeader(name, line, walk, found);
      found.isInBody = true;
      if (body && this.#mayHaveNames(body.bytes, found)) this.#addBody(body, walk, found);
    });
  }

  /** Adds the values of a header with a secret name, with and without a scheme. In Set-Cookie only the first pair counts. */
  #addHeader(name: string, text: string, walk: RedactionWalk, found: SecretValues): void {
    // The tokens are known. A scheme before a token would become a part of the value.
    if (name === "authorization") return;
    if (!this.#names.has(name)) return void walk.text(text);
    for (const pair of text.split(";").slice(0, name === "set-cookie" ? 1 : Infinity))
      found.add(pair.slice(pair.indexOf("=") + 1).trim());
    found.add([text, ...secretsBehindScheme(text)]);
  }

  #addBody(body: SentBody, walk: RedactionWalk, found: SecretValues): void {
    if (body.bytes.byteLength > this.maxSearched) return found.markIncomplete();
    const read = readSentBody(body);
    if ("form" in read) walk.value(read.form);
    else if ("text" in read) walk.body(read.text);
    else if (isTextType(body.type)) found.markIncomplete();
  }

  /** Adds the secret values of v4's body, or of the gateway's own. The whole body is searched: its size is limited. */
  addFromBody(bytes: Buffer, found: SecretValues): void {
    if (found.isComplete && this.#mayHaveNames(bytes, found))
      this.#search(found, (walk) => walk.body(bytes.toString()));
  }

  /** Adds the secret values of a parsed JSON body. */
  addFromValue(parsed: unknown, found: SecretValues): void {
    const text = JSON.stringify(parsed);
    if (text !== undefined) this.addFromBody(Buffer.from(text), found);
  }

  /** Whether a text may contain a value with a secret name. It never misses one. */
  mayHaveSecrets(text: string): boolean {
    return this.#names.maybeIn(text);
  }

  #mayHaveNames(bytes: Uint8Array, found: SecretValues): boolean {
    const mayHaveNames = this.#names.maybeInBytes(bytes);
    if (!mayHaveNames) found.bodiesWithoutNames.add(bytes);
    return mayHaveNames;
  }

  /** Text that could not be searched may contain unknown secrets. */
  #search(found: SecretValues, visit: (walk: RedactionWalk) => void): void {
    if (!found.isComplete) return;
    try {
      visit(new RedactionWalk({ names: this.#names, found }));
    } catch {
      found.markIncomplete();
    }
  }
}
