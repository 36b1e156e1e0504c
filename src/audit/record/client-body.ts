/** A client's body as text, or as the members of a form. */
export interface SentBody {
  readonly bytes: Uint8Array;
  /** Its `Content-Type`. */
  readonly type?: string | undefined;
  /** Its members, if it was read as a form. */
  readonly form?: readonly (readonly [name: string, value: unknown])[] | undefined;
}

const FORM = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i;
const MULTIPART = /^\s*multipart\//i;
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*["']?(?:utf-?8|us-ascii)\b)/i;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Whether the `Content-Type` of a body is that of an urlencoded form. */
export const isForm = ({ type = "" }: SentBody): boolean => FORM.test(type);

/** Bodies of other types are files: images, archives. */
const TEXT =
  /^\s*(?:text\/|multipart\/|application\/(?:[\w.-]+\+)?(?:json|xml)\b|application\/x-(?:www-form-urlencoded|ndjson)\b)/i;

/** Whether a body of this `Content-Type` may be a text, in whatever encoding. */
export const isTextType = (type: string | undefined): boolean => type === undefined || TEXT.test(type);

/** Whether the `Content-Type` of a body is that of a multipart form. */
const isMultipart = ({ type = "" }: SentBody): boolean => MULTIPART.test(type);

/**
 * Decodes a body. Returns undefined if it is not UTF-8, or a multipart form that was not read. UTF-16 and UTF-32 of plain
 * text are valid UTF-8 with U+0000 between the letters.
 */
export function decodeBody(body: SentBody): string | undefined {
  if (isMultipart(body) || OTHER_CHARSET.test(body.type ?? "")) return undefined;
  try {
    const text = utf8.decode(body.bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Whether another text was sent with the type of a form: JSON, markup or a sentence, which then is the name of a member. */
const isMistakenForm = (form: readonly (readonly [string, unknown])[]): boolean =>
  form.some(([name]) => /[{}<>":,=%\s]/.test(name));

/** The members of a form as an object. A repeated name has all its values, and a file is recorded as such. */
function membersOf(form: readonly (readonly [string, unknown])[]): object {
  const members = new Map<string, unknown[]>();
  for (const [name, value] of form) {
    const recorded = typeof value === "string" ? value : { file: true };
    const values = members.get(name);
    if (values) values.push(recorded);
    else members.set(name, [recorded]);
  }
  return Object.fromEntries(
    [...members].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}

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
