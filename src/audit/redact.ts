import { createCleanCheck } from "./clean-json.ts";
import { decodeBody, isForm, isMultipart, membersOf, type SentBody } from "./client-body.ts";
import { isTooMuchJson, JsonText, tryParse } from "./json-text.ts";
import type { RecordedBody } from "./record.ts";
import { BodyRedaction } from "./redact-walk.ts";
import { secretNames } from "./secret-names.ts";
import { createSecretSearch, type SecretSearch } from "./secret-search.ts";
import { NEEDLE_LENGTH, REDACTED, type SecretValues } from "./secret-values.ts";
import { isTruncated, omittedBody, truncatedBody, truncateUtf8 } from "./truncate.ts";

export interface RedactionOptions {
  /** Names of members whose values are secret, in any spelling (`secretNames`). */
  readonly names: readonly string[];
  /** Bytes of a recorded body, as JSON text. A longer one is truncated. */
  readonly bodyLimit: number;
  /** Segments of paths that the dialects define, so that no client's secret hides them. */
  readonly literals?: ReadonlySet<string>;
}

/**
 * Removes secrets. No function throws or changes its arguments. In addition to what has a secret name, `values` are replaced
 * wherever they are. The time of each function is proportional to the length of the text.
 */
export interface Redaction extends SecretSearch {
  /** Redacts a parsed JSON body. `bytes` is its length as it was sent, for the mark of a truncated one. */
  readonly value: (parsed: unknown, bytes?: number, values?: SecretValues) => RecordedBody;
  /**
   * Redacts valid JSON in UTF-8. It is only parsed if it may have secrets. What has a secret name in it is added to `values`:
   * if there are more values afterwards, what was redacted with them before must be redacted again.
   */
  readonly json: (bytes: Buffer, values?: SecretValues) => RecordedBody;
  /** Redacts a body as it was sent, or its start. It is recorded as JSON if it is JSON, otherwise as text. */
  readonly raw: (body: string | Uint8Array, values?: SecretValues) => RecordedBody;
  /** Redacts a client's body: JSON, the members of a form, or text in UTF-8. Of any other only the length is recorded. */
  readonly body: (body: SentBody, values?: SecretValues) => RecordedBody;
  /** Redacts a query string, or an urlencoded form. */
  readonly query: (text: string, values?: SecretValues) => string;
  /**
   * Redacts a path without a query. `isRoute`: it is one of the pack's. Its literals, ids and plain words stay, whatever
   * the client calls secret.
   */
  readonly path: (text: string, isRoute: boolean, values?: SecretValues) => string;
  /** Redacts the path of a v4 call, with its query. */
  readonly target: (text: string, values?: SecretValues) => string;
  /** Redacts any other text of a client: a filter header, a `User-Agent`. */
  readonly text: (text: string, values?: SecretValues) => string;
}

/** The name of a member whose secrecy depends on another member, and an escape that may hide it. */
const VALUE_MEMBER = ['"value"', "\\u00"];

/** Longer forms are not read (`oauth/read-form.ts`). */
const MAX_FORM_BYTES = 65_536;

const NOT_UTF8 = "not UTF-8";
const UNREAD = "a form that was not read";
const TOO_MANY = "more secrets than can be searched for";

/**
 * Creates the functions that remove secrets from what is recorded.
 *
 * A body is redacted before it is truncated, so that no part of a secret is left.
 */
export function createRedaction({ names, bodyLimit, literals }: RedactionOptions): Redaction {
  const secrets = secretNames(names);
  const search = createSecretSearch(secrets, bodyLimit);
  const isCleanJson = createCleanCheck(secrets);
  const redactionWith = (values: SecretValues | undefined): BodyRedaction =>
    new BodyRedaction({ secrets, limit: bodyLimit, values, literals });

  const isClean = (text: string, values: SecretValues | undefined): boolean =>
    values?.maybeIn(text) !== true && !secrets.maybeIn(text);

  function value(parsed: unknown, bytes?: number, values?: SecretValues): RecordedBody {
    if (parsed === undefined) return undefined;
    if (values?.isComplete === false) return omittedBody(bytes, TOO_MANY);
    return guarded(() => {
      const steps = redactionWith(values);
      return limited(steps.value(parsed), steps.isOverLimit(), bytes);
    });
  }

  function raw(body: string | Uint8Array, values?: SecretValues): RecordedBody {
    return guarded(() => {
      const text = typeof body === "string" ? body : new TextDecoder().decode(body);
      const bytes = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
      if (text === "") return undefined;
      if (values?.isComplete === false) return omittedBody(bytes, TOO_MANY);
      const parsed = isTooMuchJson(text) ? undefined : tryParse(text);
      const steps = redactionWith(values);
      if (parsed === undefined) return limited(steps.text(text), steps.isOverLimit(), bytes);
      const recorded = limited(steps.value(parsed.value), steps.isOverLimit(), bytes);
      // As it was sent: numbers may have more digits than a double, and members may be repeated.
      const isVerbatim = bytes <= bodyLimit && !isTruncated(recorded) && isClean(text, values);
      return isVerbatim && JSON.stringify(recorded) !== text ? new JsonText(text) : recorded;
    });
  }

  function body(sent: SentBody, values?: SecretValues): RecordedBody {
    return guarded(() => {
      const { bytes, form } = sent;
      const { byteLength } = bytes;
      if (byteLength === 0) return undefined;
      if (values?.isComplete === false) return omittedBody(byteLength, TOO_MANY);
      if (form) return value(membersOf(form), byteLength, values);
      const text = decodeBody(sent);
      if (text === undefined) return omittedBody(byteLength, isMultipart(sent) ? UNREAD : NOT_UTF8);
      if (!isForm(sent) || isTooMuchJson(text) || tryParse(text) !== undefined) return raw(text, values);
      if (byteLength > MAX_FORM_BYTES) return omittedBody(byteLength, UNREAD);
      return value(membersOf([...new URLSearchParams(text)]), byteLength, values);
    });
  }

  function json(bytes: Buffer, values?: SecretValues): RecordedBody {
    return guarded(() => {
      const addAndRedact = (): RecordedBody => {
        if (values) search.addFromText(bytes.toString(), values);
        return raw(bytes, values);
      };
      let steps: BodyRedaction | undefined;
      const limit = bytes.length;
      const getSteps = (): BodyRedaction => (steps ??= new BodyRedaction({ secrets, limit, values }));
      // The whole body, because a secret after the limit can be a part of any text of the exchange.
      if (!isCleanJson(bytes, limit, getSteps)) return addAndRedact();
      // A value that starts before the limit may end after it. Its start is enough to find it: characters of up to 3 bytes.
      if (values?.maybeInBytes(bytes.subarray(0, bodyLimit + 3 * NEEDLE_LENGTH))) return raw(bytes, values);
      const recorded = bytes.subarray(0, bodyLimit);
      const isLong = bytes.length > bodyLimit;
      // The name of a value may be after the limit.
      if (isLong && VALUE_MEMBER.some((text) => recorded.includes(text))) return raw(bytes, values);
      return isLong
        ? truncatedBody(bytes.toString("utf8", 0, bodyLimit + 3), bodyLimit, bytes.length)
        : new JsonText(bytes);
    });
  }

  function query(text: string, values?: SecretValues): string {
    if (text === "") return text;
    return guarded(() =>
      truncateUtf8(isClean(text, values) ? text : redactionWith(values).pairs(text), bodyLimit),
    );
  }

  function path(text: string, isRoute: boolean, values?: SecretValues): string {
    return guarded(() =>
      truncateUtf8(isClean(text, values) ? text : redactionWith(values).path(text, isRoute), bodyLimit),
    );
  }

  function target(text: string, values?: SecretValues): string {
    if (isClean(text, values)) return truncateUtf8(text, bodyLimit);
    const [bare = "", ...queries] = text.split("?");
    return [path(bare, true, values), ...queries.map((each) => query(each, values))].join("?");
  }

  function text(text: string, values?: SecretValues): string {
    return guarded(() =>
      truncateUtf8(isClean(text, values) ? text : redactionWith(values).text(text), bodyLimit),
    );
  }

  function limited(redacted: unknown, isOverLimit: boolean, bytes: number | undefined): RecordedBody {
    const json = JSON.stringify(redacted);
    if (!isOverLimit && Buffer.byteLength(json) <= bodyLimit) return redacted;
    return truncatedBody(typeof redacted === "string" ? redacted : json, bodyLimit, bytes);
  }

  return { ...search, value, json, raw, body, query, path, target, text };
}

/** What cannot be redacted is not recorded: an accessor that throws must not end a request. */
function guarded<T>(redact: () => T): T | typeof REDACTED {
  try {
    return redact();
  } catch {
    return REDACTED;
  }
}
