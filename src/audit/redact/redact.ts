import { parseAllMembers } from "../usage/all-members.ts";
import { createCleanCheck } from "./clean-json.ts";
import {
  decodeBody,
  isForm,
  isMistakenForm,
  isMultipart,
  membersOf,
  type SentBody,
} from "../record/client-body.ts";
import { isTooMuchJson, JsonText, tryParse } from "../record/json-text.ts";
import { createNameScanner } from "./name-scanner.ts";
import type { RecordedBody } from "../record/record.ts";
import { BodyRedaction } from "./redact-walk.ts";
import { secretNames, type SecretNames } from "./secret-names.ts";
import { SecretSearch } from "./secret-search.ts";
import { NEEDLE_LENGTH, REDACTED, type SecretValues } from "./secret-values.ts";
import { isTruncated, omittedBody, truncatedBody, truncateUtf8 } from "../record/truncate.ts";

export interface RedactionOptions {
  /** Names of members whose values are secret, in any spelling (`secretNames`). */
  readonly names: readonly string[];
  /** Bytes of a recorded body, as JSON text. A longer one is truncated. */
  readonly bodyLimit: number;
  /** Segments of paths that the dialects define, so that no client's secret hides them. */
  readonly literals?: ReadonlySet<string>;
}

/** The name of a member whose secrecy depends on another member, and an escape that may hide it. */
const VALUE_MEMBER = ['"value"', "\\u00"];

/** Longer forms are not read (`oauth/read-form.ts`). */
const MAX_FORM_BYTES = 65_536;

const NOT_UTF8 = "not UTF-8";
const UNREAD = "a form that was not read";

/** What cannot be redacted is not recorded: an accessor that throws must not end a request. */
function guarded<T>(redact: () => T): T | typeof REDACTED {
  try {
    return redact();
  } catch {
    return REDACTED;
  }
}

/**
 * Removes secrets from what is recorded. No method throws or changes its arguments. In addition to what has a secret
 * name, `values` are replaced wherever they are. The time of each method is proportional to the length of the text.
 *
 * A body is redacted before it is truncated, so that no part of a secret is left.
 */
export class Redaction extends SecretSearch {
  readonly #secrets: SecretNames;
  readonly #limit: number;
  readonly #literals: ReadonlySet<string> | undefined;
  readonly #isCleanJson: ReturnType<typeof createCleanCheck>;

  constructor({ names, bodyLimit, literals }: RedactionOptions) {
    const secrets = secretNames(names);
    const mayHaveName = createNameScanner(secrets.all);
    super(secrets, mayHaveName, bodyLimit);
    this.#secrets = secrets;
    this.#limit = bodyLimit;
    this.#literals = literals;
    this.#isCleanJson = createCleanCheck(secrets, mayHaveName);
  }

  /** Redacts a parsed JSON body. `bytes` is its length as it was sent, for the mark of a truncated one. */
  value(parsed: unknown, bytes?: number, values?: SecretValues): RecordedBody {
    if (parsed === undefined) return undefined;
    if (values?.whyIncomplete !== undefined) return omittedBody(bytes, values.whyIncomplete);
    return guarded(() => {
      const steps = this.#redactionWith(values);
      return this.#limited(steps.value(parsed), steps.isOverLimit(), bytes);
    });
  }

  /**
   * Redacts valid JSON in UTF-8. It is only parsed if it may have secrets. What has a secret name in it is added to `values`:
   * if there are more values afterwards, what was redacted with them before must be redacted again.
   */
  json(bytes: Buffer, values?: SecretValues): RecordedBody {
    return guarded(() => {
      let steps: BodyRedaction | undefined;
      const { length } = bytes;
      if (values?.whyIncomplete !== undefined) return omittedBody(length, values.whyIncomplete);
      const getSteps = (): BodyRedaction =>
        (steps ??= new BodyRedaction({ secrets: this.#secrets, limit: length, values }));
      // The whole body, because a secret after the limit can be a part of any text of the exchange.
      if (!this.#isCleanJson(bytes, length, getSteps)) {
        if (values) this.addFromText(bytes.toString(), values);
        return this.raw(bytes, values);
      }
      // A value that starts before the limit may end after it. Its start is enough to find it: characters of up to 3 bytes.
      if (values?.maybeInBytes(bytes.subarray(0, this.#limit + 3 * NEEDLE_LENGTH)))
        return this.raw(bytes, values);
      if (length <= this.#limit) return new JsonText(bytes);
      const recorded = bytes.subarray(0, this.#limit);
      // The name of a value may be after the limit.
      if (VALUE_MEMBER.some((text) => recorded.includes(text))) return this.raw(bytes, values);
      return truncatedBody(bytes.toString("utf8", 0, this.#limit + 3), this.#limit, length);
    });
  }

  /** Redacts the start of a body that is longer. @param length Bytes of the whole body. */
  start(bytes: Uint8Array, length: number, values?: SecretValues): RecordedBody {
    return guarded(() => {
      if (values?.whyIncomplete !== undefined) return omittedBody(length, values.whyIncomplete);
      const text = new TextDecoder().decode(bytes);
      return truncatedBody(this.#redactionWith(values).text(text), this.#limit, length);
    });
  }

  /** Redacts a body as it was sent, or its start. It is recorded as JSON if it is JSON, otherwise as text. */
  raw(body: string | Uint8Array, values?: SecretValues): RecordedBody {
    return guarded(() => {
      const text = typeof body === "string" ? body : new TextDecoder().decode(body);
      const bytes = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
      if (text === "") return undefined;
      if (values?.whyIncomplete !== undefined) return omittedBody(bytes, values.whyIncomplete);
      const parsed = isTooMuchJson(text) ? undefined : parseAllMembers(text);
      const steps = this.#redactionWith(values);
      if (parsed === undefined) return this.#limited(steps.text(text), steps.isOverLimit(), bytes);
      const recorded = this.#limited(steps.value(parsed.value), steps.isOverLimit(), bytes);
      // As it was sent: numbers may have more digits than a double, and members may be repeated.
      const isVerbatim = bytes <= this.#limit && !isTruncated(recorded) && this.#isClean(text, values);
      return isVerbatim && JSON.stringify(recorded) !== text ? new JsonText(text) : recorded;
    });
  }

  /** Redacts a client's body: JSON, the members of a form, or text in UTF-8. Of any other only the length is recorded. */
  body(sent: SentBody, values?: SecretValues): RecordedBody {
    return guarded(() => {
      const { bytes, form } = sent;
      const { byteLength } = bytes;
      if (byteLength === 0) return undefined;
      if (values?.whyIncomplete !== undefined) return omittedBody(byteLength, values.whyIncomplete);
      if (form && !isMistakenForm(form)) return this.value(membersOf(form), byteLength, values);
      const text = decodeBody(sent);
      if (text === undefined) return omittedBody(byteLength, isMultipart(sent) ? UNREAD : NOT_UTF8);
      if (!isForm(sent) || isTooMuchJson(text) || tryParse(text) !== undefined) return this.raw(text, values);
      if (byteLength > MAX_FORM_BYTES) return omittedBody(byteLength, UNREAD);
      const members = [...new URLSearchParams(text)];
      if (isMistakenForm(members)) return this.raw(text, values);
      return this.value(membersOf(members), byteLength, values);
    });
  }

  /** Redacts a query string, or an urlencoded form. */
  query(text: string, values?: SecretValues): string {
    if (this.#isClean(text, values)) return truncateUtf8(text, this.#limit);
    return guarded(() => truncateUtf8(this.#redactionWith(values).pairs(text), this.#limit));
  }

  /**
   * Redacts a path without a query. `isRoute`: it is one of the pack's. Its literals, ids and plain words stay, whatever
   * the client calls secret.
   */
  path(text: string, isRoute: boolean, values?: SecretValues): string {
    if (this.#isClean(text, values)) return truncateUtf8(text, this.#limit);
    return guarded(() => truncateUtf8(this.#redactionWith(values).path(text, isRoute), this.#limit));
  }

  /** Redacts the path of a v4 call, with its query. */
  target(text: string, values?: SecretValues): string {
    if (this.#isClean(text, values)) return truncateUtf8(text, this.#limit);
    // A query may have further question marks in its values.
    const [bare = "", ...query] = text.split("?");
    const path = this.path(bare, true, values);
    return query.length === 0 ? path : `${path}?${this.query(query.join("?"), values)}`;
  }

  /** Redacts any other text of a client: a filter header, a `User-Agent`. */
  text(text: string, values?: SecretValues): string {
    if (this.#isClean(text, values)) return truncateUtf8(text, this.#limit);
    return guarded(() => truncateUtf8(this.#redactionWith(values).text(text), this.#limit));
  }

  #redactionWith(values: SecretValues | undefined): BodyRedaction {
    return new BodyRedaction({
      secrets: this.#secrets,
      limit: this.#limit,
      values,
      literals: this.#literals,
    });
  }

  #isClean(text: string, values: SecretValues | undefined): boolean {
    return values?.maybeIn(text) !== true && !this.#secrets.maybeIn(text);
  }

  #limited(redacted: unknown, isOverLimit: boolean, bytes: number | undefined): RecordedBody {
    const json = JSON.stringify(redacted);
    if (!isOverLimit && Buffer.byteLength(json) <= this.#limit) return redacted;
    return truncatedBody(typeof redacted === "string" ? redacted : json, this.#limit, bytes);
  }
}
