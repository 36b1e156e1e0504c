import { createCleanCheck } from "./clean-json.ts";
import { isTooMuchJson, JsonText } from "./json-text.ts";
import type { RecordedBody } from "./record.ts";
import { truncateUtf8, createBodyRedaction } from "./redact-walk.ts";
import type { RedactBody } from "./redact-walk.ts";
import { secretNames } from "./secret-names.ts";
import { NEEDLE, REDACTED, SecretValues } from "./secret-values.ts";

export interface RedactionOptions {
  /** Names of members whose values are secret, in any spelling (`secretNames`). */
  readonly names: readonly string[];
  /** Bytes of a recorded body, as JSON text; a longer one is kept cut. */
  readonly bodyLimit: number;
  /** Segments of paths that are the dialects' own, so that no client's secret hides them. */
  readonly literals?: ReadonlySet<string>;
}

/** What is recorded in place of a body over the limit, and of one that can't be looked through. */
export interface TruncatedBody {
  readonly truncated: true;
  /** Bytes of the whole body, where known. */
  readonly bytes: number | null;
  /** The first bytes of the redacted body, as JSON text. */
  readonly text: string;
  /** Why nothing of it is recorded, where that is not its length. */
  readonly why?: string;
}

/** What a client sent, of which anything may be a secret. */
export interface Sent {
  readonly path: string;
  /** Whether the path is one of the pack's routes. */
  readonly isRoute: boolean;
  readonly query: string;
  /** Headers that are recorded. */
  readonly texts: readonly (string | undefined)[];
  readonly body?: SentBody | undefined;
}

export interface SentBody {
  readonly bytes: Uint8Array;
  /** Its `Content-Type`. */
  readonly type?: string | undefined;
  /** Its members, where it was read as a form. */
  readonly form?: readonly (readonly [name: string, value: unknown])[] | undefined;
}

/**
 * None of the functions throws, and none changes what it is given. `values` are replaced wherever they stand, besides
 * what stands under a secret name. All take time in proportion to the text.
 */
export interface Redaction {
  /** The values that stood under secret names, and tokens: what is to be replaced in the whole exchange. */
  readonly find: (sent: Sent, tokens?: readonly (string | undefined)[]) => SecretValues;
  /** A parsed JSON body. `bytes` is its length as it travelled, for the mark of a cut one. */
  readonly value: (parsed: unknown, bytes?: number, values?: SecretValues) => RecordedBody;
  /** A body that is valid JSON, by its text: nothing is parsed where there is nothing to redact. `bytes`: the text in UTF-8. */
  readonly json: (text: string, values?: SecretValues, bytes?: Buffer) => RecordedBody;
  /** A body as it travelled, whole or its beginning: recorded as JSON where it is JSON, else as text. */
  readonly raw: (body: string | Uint8Array, values?: SecretValues) => RecordedBody;
  /** A client's body: JSON, the members of a form, or text in UTF-8. Of anything else only the length is recorded. */
  readonly body: (body: SentBody, values?: SecretValues) => RecordedBody;
  /** A query string, or an urlencoded form. */
  readonly query: (text: string, values?: SecretValues) => string;
  /**
   * A path without a query. `isRoute`: it is one of the pack's, whose literals, ids and plain words stay, whatever
   * the client calls secret.
   */
  readonly path: (text: string, isRoute: boolean, values?: SecretValues) => string;
  /** The path of a call of v4, with its query. */
  readonly target: (text: string, values?: SecretValues) => string;
  /** Any other text of a client: a filter header, a `User-Agent`. */
  readonly text: (text: string, values?: SecretValues) => string;
}

/**
 * Characters of a request that are looked through for values under secret names, or as many as are kept of a body.
 * What is longer is not recorded: looking through a megabyte would hold all other requests up.
 */
const MOST_LOOKED_THROUGH = 65_536;

/** The name of a member whose secrecy another member decides, or an escape that may hide it. */
const VALUE_MEMBER = /"value"|\\u00/;

const FORM = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i;
/** Longer forms are not read (`oauth/read-form.ts`). */
const LONGEST_FORM = 65_536;
const MULTIPART = /^\s*multipart\//i;
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*["']?(?:utf-?8|us-ascii)\b)/i;

/**
 * Makes the functions that take secrets out of what is recorded (contract, "An audit record").
 *
 * Redaction comes first and the cut after it, so that no half of a secret is left by the cut.
 */
export function createRedaction({ names, bodyLimit, literals }: RedactionOptions): Redaction {
  const secrets = secretNames(names);
  const mostLookedThrough = Math.max(MOST_LOOKED_THROUGH, bodyLimit);
  const walk = (values: SecretValues | undefined): RedactBody =>
    createBodyRedaction({ secrets, limit: bodyLimit, values, literals });

  const isCleanJson = createCleanCheck(secrets);

  const isClean = (text: string, values: SecretValues | undefined): boolean =>
    values?.maybeIn(text) !== true && !secrets.maybeIn(text);

  function find(sent: Sent, tokens: readonly (string | undefined)[] = []): SecretValues {
    const found = tokenValues(tokens);
    if (!sent.body && !mayHoldSecrets(sent)) return found;
    const steps = createBodyRedaction({ secrets, limit: mostLookedThrough, found });
    try {
      found.fromBody(false);
      steps.path(sent.path, sent.isRoute);
      steps.pairs(sent.query);
      for (const text of sent.texts) if (text !== undefined) steps.text(text);
      found.fromBody(true);
      if (sent.body) findIn(sent.body, steps, found);
    } catch {
      found.seal();
    }
    if (steps.spent()) found.seal();
    return found;
  }

  const mayHoldSecrets = ({ path, query, texts }: Sent): boolean =>
    secrets.maybeIn(path) ||
    secrets.maybeIn(query) ||
    texts.some((text) => text !== undefined && secrets.maybeIn(text));

  function findIn(body: SentBody, steps: RedactBody, found: SecretValues): void {
    if (body.form) return void steps.value(membersOf(body.form));
    const text = textOf(body);
    if (text === undefined) return;
    if (text.length > mostLookedThrough)
      return body.bytes.byteLength > text.length || secrets.maybeIn(text) ? found.seal() : undefined;
    if (!secrets.maybeIn(text)) return;
    if (isTooMuchJson(text)) return found.seal();
    const parsed = parse(text);
    if (parsed) steps.value(parsed.value);
    else if (FORM.test(body.type ?? "")) steps.pairs(text);
    else steps.text(text);
  }

  function value(parsed: unknown, bytes?: number, values?: SecretValues): RecordedBody {
    if (parsed === undefined) return undefined;
    if (values?.sealed) return unrecorded(bytes, TOO_MANY);
    return guarded(() => {
      const steps = walk(values);
      return limited(steps.value(parsed), steps.spent(), bytes);
    });
  }

  function raw(body: string | Uint8Array, values?: SecretValues): RecordedBody {
    return guarded(() => {
      const text = typeof body === "string" ? body : new TextDecoder().decode(body);
      const whole = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
      if (text === "") return undefined;
      if (values?.sealed) return unrecorded(whole, TOO_MANY);
      const parsed = isTooMuchJson(text) ? undefined : parse(text);
      if (parsed !== undefined) return value(parsed.value, whole, values);
      const steps = walk(values);
      return limited(steps.text(text), steps.spent(), whole);
    });
  }

  function body(sent: SentBody, values?: SecretValues): RecordedBody {
    return guarded(() => {
      const { bytes, type = "", form } = sent;
      const { byteLength } = bytes;
      if (byteLength === 0) return undefined;
      if (values?.sealed) return unrecorded(byteLength, TOO_MANY);
      if (form) return value(membersOf(form), byteLength, values);
      const text = textOf(sent);
      if (text === undefined) return unrecorded(byteLength, MULTIPART.test(type) ? UNREAD : NOT_UTF8);
      if (!FORM.test(type) || isTooMuchJson(text) || parse(text) !== undefined) return raw(text, values);
      if (byteLength > LONGEST_FORM) return unrecorded(byteLength, UNREAD);
      return value(membersOf([...new URLSearchParams(text)]), byteLength, values);
    });
  }

  function json(text: string, values?: SecretValues, bytes: Buffer = Buffer.from(text)): RecordedBody {
    return guarded(() => {
      // A value that begins before the cut may end behind it; its beginning is enough to be found.
      if (values?.maybeIn(text.slice(0, bodyLimit + NEEDLE))) return raw(text, values);
      // The name of a value may be behind the cut.
      if (bytes.length > bodyLimit && VALUE_MEMBER.test(text.slice(0, bodyLimit))) return raw(text, values);
      let steps: RedactBody | undefined;
      if (!isCleanJson(bytes, Math.min(bytes.length, bodyLimit), () => (steps ??= walk(values))))
        return raw(text, values);
      if (bytes.length <= bodyLimit) return new JsonText(bytes);
      const kept = text.slice(0, bodyLimit);
      return {
        truncated: true,
        bytes: bytes.length,
        text: truncateUtf8(kept, bodyLimit),
      } satisfies TruncatedBody;
    });
  }

  function query(text: string, values?: SecretValues): string {
    if (text === "") return text;
    return guarded(() => truncateUtf8(isClean(text, values) ? text : walk(values).pairs(text), bodyLimit));
  }

  function path(text: string, isRoute: boolean, values?: SecretValues): string {
    return guarded(() =>
      truncateUtf8(isClean(text, values) ? text : walk(values).path(text, isRoute), bodyLimit),
    );
  }

  function target(text: string, values?: SecretValues): string {
    if (isClean(text, values)) return truncateUtf8(text, bodyLimit);
    const [bare = "", ...queries] = text.split("?");
    return [path(bare, true, values), ...queries.map((each) => query(each, values))].join("?");
  }

  function text(text: string, values?: SecretValues): string {
    return guarded(() => truncateUtf8(isClean(text, values) ? text : walk(values).text(text), bodyLimit));
  }

  function limited(redacted: unknown, overspent: boolean, bytes: number | undefined): RecordedBody {
    const json = JSON.stringify(redacted);
    if (!overspent && Buffer.byteLength(json) <= bodyLimit) return redacted;
    const kept = truncateUtf8(typeof redacted === "string" ? redacted : json, bodyLimit);
    return {
      truncated: true,
      bytes: bytes ?? null,
      text: boundEscaped(kept, 2 * bodyLimit),
    } satisfies TruncatedBody;
  }

  return { find, value, json, raw, body, query, path, target, text };
}

/** The beginning of a text that takes so many bytes as JSON at most: a control character takes six. */
function boundEscaped(text: string, most: number): string {
  const length = Buffer.byteLength(JSON.stringify(text));
  return length <= most
    ? text
    : truncateUtf8(text, Math.floor((Buffer.byteLength(text) * most) / length / 3));
}

/** A token of fewer characters is none that somebody gave out, and could stand anywhere. */
const SHORTEST_TOKEN = 8;

function tokenValues(tokens: readonly (string | undefined)[]): SecretValues {
  const found = new SecretValues();
  for (const token of tokens)
    if (token !== undefined && token.length >= SHORTEST_TOKEN) found.addToken(token);
  return found;
}

const NOT_UTF8 = "not UTF-8";
const UNREAD = "a form that was not read";
const TOO_MANY = "more secrets than can be looked for";

const unrecorded = (bytes: number | undefined, why: string): TruncatedBody => ({
  truncated: true,
  bytes: bytes ?? null,
  text: "",
  why,
});

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * A body as text; undefined where it is none in UTF-8, or a form whose members nobody has read. UTF-16 and UTF-32 of
 * plain text are sound UTF-8 too, with U+0000 between the letters.
 */
function textOf({ bytes, type = "" }: SentBody): string | undefined {
  if (MULTIPART.test(type) || OTHER_CHARSET.test(type)) return undefined;
  try {
    const text = utf8.decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The members of a form as an object; of a name that came twice all values. Of a file it is known that it was one. */
function membersOf(form: readonly (readonly [string, unknown])[]): object {
  const members = new Map<string, unknown[]>();
  for (const [name, value] of form) {
    const values = members.get(name);
    const kept = typeof value === "string" ? value : { file: true };
    if (values) values.push(kept);
    else members.set(name, [kept]);
  }
  return Object.fromEntries(
    [...members].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** What cannot be redacted is not recorded: an accessor that throws must not end a request. */
function guarded<T>(redact: () => T): T | typeof REDACTED {
  try {
    return redact();
  } catch {
    return REDACTED;
  }
}
