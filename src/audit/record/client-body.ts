/** Reads a client's body as text, or as the members of a form. */
export interface SentBody {
  readonly bytes: Uint8Array;
  /** The `Content-Type` of the body. */
  readonly type?: string | undefined;
  /** The members of the form, if the body was parsed as a form. */
  readonly form?: readonly (readonly [name: string, value: unknown])[] | undefined;
}

const FORM = /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i;
const MULTIPART = /^\s*multipart\//i;
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*["']?(?:utf-?8|us-ascii)\b)/i;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Whether a `Content-Type` is that of an urlencoded form. */
export const isForm = ({ type = "" }: SentBody): boolean => FORM.test(type);

/** Matches the types of text bodies. Bodies of other types are files, such as images and archives. */
const TEXT =
  /^\s*(?:text\/|multipart\/|application\/(?:[\w.-]+\+)?(?:json|xml|javascript)\b|application\/x-(?:www-form-urlencoded|ndjson)\b)/i;

/** Whether a body of this `Content-Type` may be text, in any encoding. */
export const isTextType = (type: string | undefined): boolean => type === undefined || TEXT.test(type);

/** Whether a `Content-Type` is that of a multipart form. */
const isMultipart = ({ type = "" }: SentBody): boolean => MULTIPART.test(type);

/**
 * Decodes a body. Returns undefined if it is not UTF-8, or a multipart form that was not parsed. Plain text in UTF-16
 * or UTF-32 is also valid UTF-8, with U+0000 between the letters.
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

/**
 * Whether a body with the type of a form actually contains a different text, such as JSON, markup or a sentence. As a
 * form, the text would be the name of a member.
 */
const isMistakenForm = (form: readonly (readonly [string, unknown])[]): boolean =>
  form.some(([name]) => /[{}<>":,=%\s]/.test(name));

/** Returns the members of a form as an object. A repeated name becomes a list of all its values. A file is marked as such. */
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

/** Maximum size of a form in bytes. Longer forms are not parsed (`oauth/read-form.ts`). */
const MAX_FORM_BYTES = 65_536;

const NOT_UTF8 = "not UTF-8";
const UNREAD = "a form that was not read";

/**
 * Reads a client's body: the members of a form, or text in UTF-8. For any other body it returns the reason why its
 * content is not recorded.
 */
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
