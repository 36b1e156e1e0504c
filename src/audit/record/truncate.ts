/** The recorded text instead of a body that exceeds the limit, or that can't be searched for secrets. */
interface TruncatedBody {
  readonly truncated: true;
  /** Size of the complete body in bytes, if known. */
  readonly bytes: number | null;
  /** The first bytes of the redacted body, as JSON text. */
  readonly text: string;
  /** The reason why the content of the body is not recorded, if it is not the length. */
  readonly why?: string;
}

/** Whether only the start of a body was recorded (`AUDIT_BODY_LIMIT`). */
export const isTruncated = (body: unknown): body is TruncatedBody =>
  typeof body === "object" && body !== null && (body as Partial<TruncatedBody>).truncated === true;

/**
 * Copies a text. V8 keeps a whole text in memory while a part of it is in use, so a part that outlives its request
 * must be copied.
 */
export const copyText = (text: string): string => JSON.parse(JSON.stringify(text)) as string;

/** Returns the first characters of a text, at most `length`, as a copy. */
export const firstCharacters = (text: string, length: number): string =>
  text.length <= length ? text : copyText(text.slice(0, length));

/** Returns the start of a text, at most `limit` bytes of UTF-8, without an incomplete character at the end. */
export function truncateUtf8(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  return new TextDecoder().decode(Buffer.from(text).subarray(0, limit), { stream: true });
}

/** Returns the start of a text that needs at most `limit` bytes as JSON. A control character needs six bytes. */
function truncateEscaped(text: string, limit: number): string {
  const length = Buffer.byteLength(JSON.stringify(text));
  return length <= limit
    ? text
    : truncateUtf8(text, Math.floor((Buffer.byteLength(text) * limit) / length / 3));
}

/**
 * Creates the mark of a body that is longer than the limit.
 *
 * @param text The redacted body.
 * @param bytes The size of the complete body, if known.
 */
export const truncatedBody = (text: string, limit: number, bytes: number | undefined): TruncatedBody => ({
  truncated: true,
  bytes: bytes ?? null,
  text: truncateEscaped(truncateUtf8(text, limit), 2 * limit),
});

/** Creates the mark of a body that is not recorded except for its length. */
export const omittedBody = (bytes: number | undefined, why: string): TruncatedBody => ({
  truncated: true,
  bytes: bytes ?? null,
  text: "",
  why,
});
