import { parseAllMembers } from "../usage/all-members.ts";
import { decodeBody, isForm, isMistakenForm, membersOf, type SentBody } from "../record/client-body.ts";
import { isTooMuchJson } from "../record/json-text.ts";
import type { MayHaveName } from "./name-scanner.ts";
import { BodyRedaction } from "./redact-walk.ts";
import type { SecretNames } from "./secret-names.ts";
import { SecretValues } from "./secret-values.ts";

/** Headers by their names in lower case. */
export type SentHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The parts of a request that may have secrets. */
export interface SentTexts {
  readonly path: string;
  /** Whether the path is one of the pack's routes. */
  readonly isRoute: boolean;
  readonly query: string;
  /** Headers that are recorded. */
  readonly texts: readonly (string | undefined)[];
  /** Other headers, with their names in lower case. */
  readonly headers?: SentHeaders | undefined;
  readonly body?: SentBody | undefined;
}

/**
 * Minimum number of characters of a body that are searched for values with secret names. Values of longer bodies
 * are not known: searching a megabyte would delay all other requests.
 */
const MIN_SEARCHED = 65_536;

function someHeader(
  headers: SentHeaders | undefined,
  isMatch: (name: string, text: string) => boolean,
): boolean {
  for (const name in headers) {
    // Tokens are known. A scheme in front of them would be a part of the value.
    if (name === "authorization") continue;
    const texts = headers[name];
    if (typeof texts === "string" ? isMatch(name, texts) : texts?.some((text) => isMatch(name, text)))
      return true;
  }
  return false;
}

function addHeader(name: string, text: string, found: SecretValues): void {
  const pairs = text.split(";");
  // What follows the first pair of Set-Cookie says how long and where the cookie is valid.
  for (const pair of name === "set-cookie" ? pairs.slice(0, 1) : pairs)
    found.add(pair.slice(pair.indexOf("=") + 1).trim());
  found.add(text);
}

/** Shorter tokens were not issued by anybody, and could be a part of any text. */
const MIN_TOKEN_LENGTH = 8;

function tokenValues(tokens: readonly (string | undefined)[]): SecretValues {
  const found = new SecretValues();
  for (const token of tokens)
    if (token !== undefined && token.length >= MIN_TOKEN_LENGTH) found.addToken(token);
  return found;
}

/** Finds the values that have secret names in the messages of an exchange. No method throws. */
export class SecretSearch {
  /** Bytes of a body that is searched. A longer one may have any secrets. */
  readonly maxSearched: number;
  readonly #secrets: SecretNames;
  readonly #mayHaveName: MayHaveName;

  /** @param mayHaveName The scanner for `secrets`. @param bodyLimit bytes of a recorded body */
  constructor(secrets: SecretNames, mayHaveName: MayHaveName, bodyLimit: number) {
    this.#secrets = secrets;
    this.#mayHaveName = mayHaveName;
    this.maxSearched = Math.max(MIN_SEARCHED, bodyLimit);
  }

  /** Finds those of the client's request, and adds its tokens. */
  find(sent: SentTexts, tokens: readonly (string | undefined)[] = []): SecretValues {
    const found = tokenValues(tokens);
    this.addFrom(sent, found);
    return found;
  }

  /** Adds those of another message. */
  addFrom(sent: SentTexts, found: SecretValues): void {
    if (!found.isComplete) return;
    const body = sent.body && this.#mayHaveName(sent.body.bytes) ? sent.body : undefined;
    if (!body && !this.#mayHaveSecrets(sent)) return;
    this.#search(this.maxSearched, found, (steps) => {
      found.fromBody(false);
      steps.path(sent.path, sent.isRoute);
      steps.pairs(sent.query);
      for (const text of sent.texts) if (text !== undefined) steps.text(text);
      someHeader(sent.headers, (name, text) => {
        if (this.#isSecretName(name)) addHeader(name, text, found);
        else steps.text(text);
        return false;
      });
      found.fromBody(true);
      if (body) this.#findInBody(body, steps, found);
    });
  }

  /** Whether a text may have a value with a secret name. Never wrongly false. */
  mayHaveSecrets(text: string): boolean {
    return this.#secrets.maybeIn(text);
  }

  /** Adds those of a parsed JSON body. */
  addFromValue(parsed: unknown, found: SecretValues): void {
    const text = JSON.stringify(parsed);
    if (text !== undefined) this.addFromText(text, found);
  }

  /** Adds those of a body, which may be JSON. It is searched to its end: it is as long as what the gateway has translated. */
  addFromText(text: string, found: SecretValues): void {
    if (!found.isComplete || !this.#secrets.maybeIn(text)) return;
    if (isTooMuchJson(text)) return found.markIncomplete();
    this.#search(Infinity, found, (steps) => {
      const parsed = parseAllMembers(text);
      if (parsed) steps.value(parsed.value);
      else steps.text(text);
    });
  }

  /** What could not be searched may have secrets that nobody knows. */
  #search(limit: number, found: SecretValues, visit: (steps: BodyRedaction) => void): void {
    const steps = new BodyRedaction({ secrets: this.#secrets, limit, found });
    try {
      visit(steps);
    } catch {
      found.markIncomplete();
    }
    if (steps.isOverLimit()) found.markIncomplete();
  }

  /** A header is a text. */
  #isSecretName(name: string): boolean {
    return this.#secrets.has(name) || this.#secrets.hasTexts(name);
  }

  #mayHaveSecrets({ path, query, texts, headers }: SentTexts): boolean {
    const secrets = this.#secrets;
    return (
      secrets.maybeIn(path) ||
      secrets.maybeIn(query) ||
      texts.some((text) => text !== undefined && secrets.maybeIn(text)) ||
      someHeader(headers, (name, text) => this.#isSecretName(name) || secrets.maybeIn(text))
    );
  }

  #findInBody(body: SentBody, steps: BodyRedaction, found: SecretValues): void {
    if (body.form) steps.value(membersOf(body.form));
    if (body.form && !isMistakenForm(body.form)) return;
    const text = decodeBody(body);
    if (text === undefined) return;
    const isTooLong = text.length > this.maxSearched;
    if (isTooLong && body.bytes.byteLength > text.length) return found.markIncomplete();
    if (!this.#secrets.maybeIn(text)) return;
    if (isTooLong || isTooMuchJson(text)) return found.markIncomplete();
    const parsed = parseAllMembers(text);
    if (parsed) steps.value(parsed.value);
    else if (isForm(body) && !isMistakenForm([...new URLSearchParams(text)])) steps.pairs(text);
    else steps.text(text);
  }
}
