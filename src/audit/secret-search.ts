import { decodeBody, isForm, membersOf, type SentBody } from "./client-body.ts";
import { isTooMuchJson, tryParse } from "./json-text.ts";
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

/** Finds the values that have secret names in the messages of an exchange. No function throws. */
export interface SecretSearch {
  /** Bytes of a body that is searched. A longer one may have any secrets. */
  readonly maxSearched: number;
  /** Finds those of the client's request, and adds its tokens. */
  readonly find: (sent: SentTexts, tokens?: readonly (string | undefined)[]) => SecretValues;
  /** Adds those of another message. */
  readonly addFrom: (sent: SentTexts, values: SecretValues) => void;
  /** Adds those of headers. */
  readonly addFromHeaders: (headers: SentHeaders, values: SecretValues) => void;
  /** Adds those of a parsed JSON body. */
  readonly addFromValue: (parsed: unknown, values: SecretValues) => void;
  /** Adds those of a body, which may be JSON. */
  readonly addFromText: (text: string, values: SecretValues) => void;
}

/**
 * Minimum number of characters of a body that are searched for values with secret names. Values of longer bodies
 * are not known: searching a megabyte would delay all other requests.
 */
const MIN_SEARCHED = 65_536;

/** Creates the search. @param bodyLimit bytes of a recorded body */
export function createSecretSearch(secrets: SecretNames, bodyLimit: number): SecretSearch {
  const maxSearched = Math.max(MIN_SEARCHED, bodyLimit);

  function find(sent: SentTexts, tokens: readonly (string | undefined)[] = []): SecretValues {
    const found = tokenValues(tokens);
    addFrom(sent, found);
    return found;
  }

  function addFrom(sent: SentTexts, found: SecretValues): void {
    if (!sent.body && !mayHaveSecrets(sent)) return;
    search(maxSearched, found, (steps) => {
      found.fromBody(false);
      steps.path(sent.path, sent.isRoute);
      steps.pairs(sent.query);
      for (const text of sent.texts) if (text !== undefined) steps.text(text);
      forEachHeader(sent.headers, (name, text) => addHeader(name, text, steps, found));
      found.fromBody(true);
      if (sent.body) findInBody(sent.body, steps, found);
    });
  }

  function addFromHeaders(headers: SentHeaders, found: SecretValues): void {
    addFrom({ path: "", isRoute: false, query: "", texts: [], headers }, found);
  }

  function addFromValue(parsed: unknown, found: SecretValues): void {
    const text = JSON.stringify(parsed);
    if (text !== undefined) addFromText(text, found);
  }

  /** Searches to the end: the text is as long as what the gateway has translated. */
  function addFromText(text: string, found: SecretValues): void {
    if (!secrets.maybeIn(text)) return;
    if (isTooMuchJson(text)) return found.markIncomplete();
    search(Infinity, found, (steps) => {
      const parsed = tryParse(text);
      if (parsed) steps.value(parsed.value);
      else steps.text(text);
    });
  }

  /** What could not be searched may have secrets that nobody knows. */
  function search(limit: number, found: SecretValues, visit: (steps: BodyRedaction) => void): void {
    const steps = new BodyRedaction({ secrets, limit, found });
    try {
      visit(steps);
    } catch {
      found.markIncomplete();
    }
    if (steps.isOverLimit()) found.markIncomplete();
  }

  const mayHaveSecrets = ({ path, query, texts, headers }: SentTexts): boolean =>
    secrets.maybeIn(path) ||
    secrets.maybeIn(query) ||
    texts.some((text) => text !== undefined && secrets.maybeIn(text)) ||
    someHeader(headers, (name, text) => secrets.has(name) || secrets.maybeIn(text));

  function addHeader(name: string, text: string, steps: BodyRedaction, found: SecretValues): void {
    if (!secrets.has(name)) return void steps.text(text);
    const pairs = text.split(";");
    // What follows the first pair of Set-Cookie says how long and where the cookie is valid.
    for (const pair of name === "set-cookie" ? pairs.slice(0, 1) : pairs)
      found.add(pair.slice(pair.indexOf("=") + 1).trim());
    found.add(text);
  }

  function findInBody(body: SentBody, steps: BodyRedaction, found: SecretValues): void {
    if (body.form) return void steps.value(membersOf(body.form));
    const text = decodeBody(body);
    if (text === undefined) return;
    if (text.length > maxSearched)
      return body.bytes.byteLength > text.length || secrets.maybeIn(text)
        ? found.markIncomplete()
        : undefined;
    if (!secrets.maybeIn(text)) return;
    if (isTooMuchJson(text)) return found.markIncomplete();
    const parsed = tryParse(text);
    if (parsed) steps.value(parsed.value);
    else if (isForm(body)) steps.pairs(text);
    else steps.text(text);
  }

  return { maxSearched, find, addFrom, addFromHeaders, addFromValue, addFromText };
}

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

const forEachHeader = (headers: SentHeaders | undefined, visit: (name: string, text: string) => void): void =>
  void someHeader(headers, (name, text) => (visit(name, text), false));

/** Shorter tokens were not issued by anybody, and could be a part of any text. */
const MIN_TOKEN_LENGTH = 8;

function tokenValues(tokens: readonly (string | undefined)[]): SecretValues {
  const found = new SecretValues();
  for (const token of tokens)
    if (token !== undefined && token.length >= MIN_TOKEN_LENGTH) found.addToken(token);
  return found;
}
