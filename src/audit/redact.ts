import { JsonText } from "./json-text.ts";
import type { RecordedBody } from "./record.ts";
import { cutBytes, redactWalk, REDACTED } from "./redact-walk.ts";
import type { RedactWalk } from "./redact-walk.ts";
import { secretNames } from "./secret-names.ts";

export interface RedactionOptions {
  /** Names of members whose values are secret, in any spelling of case, `-` and `_`. */
  readonly names: readonly string[];
  /** Bytes of a recorded body, as JSON text; a longer one is kept cut. */
  readonly bodyLimit: number;
}

/** What is recorded in place of a body over the limit. */
export interface CutBody {
  readonly truncated: true;
  /** Bytes of the whole body, where known. */
  readonly bytes: number | null;
  /** The first bytes of the redacted body, as JSON text. */
  readonly text: string;
}

/** None of the functions throws, and none changes what it is given. */
export interface Redaction {
  /** A parsed JSON body. `bytes` is its length as it travelled, for the mark of a cut one. */
  readonly value: (parsed: unknown, bytes?: number) => RecordedBody;
  /** A body that is known to be sound JSON, by its text: nothing is read where no secret can be in it. */
  readonly json: (text: string) => RecordedBody;
  /** A body as it travelled, whole or its beginning: recorded as JSON where it is JSON, else as text. */
  readonly raw: (body: string | Uint8Array, bytes?: number) => RecordedBody;
  /** A query string, an urlencoded form, or a path with its query. */
  readonly query: (text: string) => string;
  /** Any other text of a client: a filter header, a `User-Agent`. */
  readonly text: (text: string) => string;
}

/**
 * Makes the functions that take secrets out of what is recorded (contract, "An audit record").
 *
 * Redaction comes first and the cut after it, so that no half of a secret is left by the cut.
 */
export function makeRedaction({ names, bodyLimit }: RedactionOptions): Redaction {
  const secrets = secretNames(names);
  const walk = (): RedactWalk => redactWalk(secrets, bodyLimit);

  function value(parsed: unknown, bytes?: number): RecordedBody {
    if (parsed === undefined) return undefined;
    return guarded(() => {
      const steps = walk();
      return limited(steps.value(parsed), steps.spent(), bytes);
    });
  }

  function raw(body: string | Uint8Array, bytes?: number): RecordedBody {
    return guarded(() => {
      const text = typeof body === "string" ? body : new TextDecoder().decode(body);
      const whole = bytes ?? (typeof body === "string" ? Buffer.byteLength(body) : body.byteLength);
      if (text === "") return undefined;
      const parsed = parse(text);
      if (parsed !== undefined) return value(parsed.value, whole);
      const steps = walk();
      return limited(steps.text(text), steps.spent(), whole);
    });
  }

  function json(text: string): RecordedBody {
    return guarded(() => {
      const kept = text.length > bodyLimit ? text.slice(0, bodyLimit) : text;
      if (secrets.maybeIn(kept)) return raw(text);
      const bytes = Buffer.byteLength(text);
      if (bytes <= bodyLimit) return new JsonText(text);
      return { truncated: true, bytes, text: cutBytes(kept, bodyLimit) } satisfies CutBody;
    });
  }

  /** Most texts are a path, or the name of a program: nothing in them sets anything off from anything. */
  const isBare = (text: string): boolean => 3 * text.length <= bodyLimit && !/[{["'=:>]/.test(text);

  function query(text: string): string {
    if (text === "") return text;
    return guarded(() => cutBytes(walk().pairs(text.slice(0, bodyLimit)), bodyLimit));
  }

  function text(text: string): string {
    if (isBare(text)) return text;
    return guarded(() => cutBytes(walk().text(text), bodyLimit));
  }

  function limited(redacted: unknown, overspent: boolean, bytes: number | undefined): RecordedBody {
    const json = JSON.stringify(redacted);
    if (!overspent && Buffer.byteLength(json) <= bodyLimit) return redacted;
    const kept = typeof redacted === "string" ? redacted : json;
    return { truncated: true, bytes: bytes ?? null, text: cutBytes(kept, bodyLimit) } satisfies CutBody;
  }

  return { value, json, raw, query, text };
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
