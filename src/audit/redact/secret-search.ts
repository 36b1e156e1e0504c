import {
  decodeBody,
  isForm,
  isMistakenForm,
  isMultipart,
  membersOf,
  type SentBody,
} from "../record/client-body.ts";
import { secretsBehindScheme } from "../../pack/index.ts";
import { RedactionWalk } from "./redact-walk.ts";
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

/** Bytes of a body that are searched at least. Values of longer bodies are not known: a megabyte would delay all other requests. */
const MIN_SEARCHED = 65_536;
/** Shorter tokens were not issued by anybody, and could be a part of any text. */
const MIN_TOKEN_LENGTH = 8;
/** Longer forms are not read (`oauth/read-form.ts`). */
const MAX_FORM_BYTES = 65_536;

const NOT_UTF8 = "not UTF-8";
const UNREAD = "a form that was not read";

/** Reads a client's body: the members of a form, or text in UTF-8. Of any other it says why nothing of it is recorded. */
export function readSentBody(
  sent: SentBody,
): { readonly form: object } | { readonly text: string } | { readonly why: string } {
  if (sent.form && (isMultipart(sent) || !isMistakenForm(sent.form))) return { form: membersOf(sent.form) };
  const text = decodeBody(sent);
  if (text === undefined) return { why: isMultipart(sent) ? UNREAD : NOT_UTF8 };
  if (isForm(sent) && sent.bytes.byteLength > MAX_FORM_BYTES) return { why: UNREAD };
  const members = isForm(sent) ? [...new URLSearchParams(text)] : undefined;
  return members && !isMistakenForm(members) ? { form: membersOf(members) } : { text };
}

/** Adds the values of a header with a secret name, with and without a scheme in front of them. What follows the first pair of Set-Cookie says how long and where the cookie is valid. */
function addHeader(name: string, text: string, found: SecretValues): void {
  for (const pair of text.split(";").slice(0, name === "set-cookie" ? 1 : Infinity))
    found.add(pair.slice(pair.indexOf("=") + 1).trim());
  found.add([text, ...secretsBehindScheme(text)]);
}

/** Finds the values that have secret names in the messages of an exchange. No method throws. */
export class SecretSearch {
  /** Bytes of a body that is searched. A longer one may have any secrets. */
  readonly maxSearched: number;
  protected readonly names: SecretNames;

  /** @param bodyLimit bytes of a recorded body */
  constructor(names: SecretNames, bodyLimit: number) {
    this.names = names;
    this.maxSearched = Math.max(MIN_SEARCHED, bodyLimit);
  }

  /** Finds those of the client's request, and adds its tokens. */
  find(sent: SentTexts, tokens: readonly (string | undefined)[] = []): SecretValues {
    const found = new SecretValues();
    for (const token of tokens)
      if (token !== undefined && token.length >= MIN_TOKEN_LENGTH) found.addToken(token);
    this.addFrom(sent, found);
    return found;
  }

  /** Adds those of another message. */
  addFrom(
    { path, isRoute, query, texts: recorded, headers = {}, body }: SentTexts,
    found: SecretValues,
  ): void {
    this.search(found, (walk) => {
      found.fromBody(false);
      walk.path(path, isRoute);
      walk.pairs(query);
      for (const text of recorded) if (text !== undefined) walk.text(text);
      for (const name in headers) {
        // Tokens are known. A scheme in front of them would be a part of the value.
        if (name === "authorization") continue;
        const isSecret = this.names.has(name);
        const add = (text: string): unknown => (isSecret ? addHeader(name, text, found) : walk.text(text));
        const texts = headers[name];
        if (typeof texts === "string") add(texts);
        else texts?.forEach(add);
      }
      found.fromBody(true);
      if (body && this.names.maybeInBytes(body.bytes)) this.#findInBody(body, walk, found);
    });
  }

  /** Whether a text may have a value with a secret name. Never wrongly false. */
  mayHaveSecrets(text: string): boolean {
    return this.names.maybeIn(text);
  }

  /** Adds those of a parsed JSON body. */
  addFromValue(parsed: unknown, found: SecretValues): void {
    const text = JSON.stringify(parsed);
    if (text !== undefined) this.addFromText(text, found);
  }

  /** Adds those of a body, which may be JSON. It is searched to its end: it is as long as what the gateway has translated. */
  addFromText(text: string, found: SecretValues): void {
    if (!this.names.maybeIn(text)) return;
    this.search(found, (walk) => walk.body(text));
  }

  /** Text that could not be searched may have unknown secrets. */
  protected search(found: SecretValues, visit: (walk: RedactionWalk) => void): void {
    if (!found.isComplete) return;
    try {
      visit(new RedactionWalk({ names: this.names, found }));
    } catch {
      found.markIncomplete();
    }
  }

  #findInBody(body: SentBody, walk: RedactionWalk, found: SecretValues): void {
    if (body.bytes.byteLength > this.maxSearched) return found.markIncomplete();
    const read = readSentBody(body);
    if ("form" in read) walk.value(read.form);
    else if ("text" in read) walk.body(read.text);
    else if (isForm(body)) found.markIncomplete();
  }
}
