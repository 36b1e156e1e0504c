/** Rebuilds a client's body from a record or an example. */
import { type ClientMediaTypes, type Pack, printForm } from "../../pack/index.ts";
import { isObject } from "../../base/index.ts";

/** Returns the first media type of a format that clients may send; undefined if not found. */
export const typeOfFormat = (
  { names, formatOf }: ClientMediaTypes,
  format: "json" | "form",
): string | undefined => names.find((name) => formatOf(name) === format);

/** Whether a recorded body may be a form: it only contains texts and lists of texts. An empty form is treated as no body. */
const hasTextsAlone = (body: unknown): body is Record<string, unknown> =>
  isObject(body) &&
  Object.keys(body).length > 0 &&
  Object.values(body).every((value) => [value].flat().every((item) => typeof item === "string"));

/**
 * Whether a recorded body was a form. If several media types are allowed, it is a form if forms come first, or if its
 * names contain brackets.
 */
function isForm(body: unknown, { formatOf }: ClientMediaTypes): boolean {
  const readsFirst = formatOf(undefined) === "form";
  if (typeof body === "string") return readsFirst;
  return hasTextsAlone(body) && (readsFirst || Object.keys(body).some((name) => name.endsWith("]")));
}

/**
 * Returns the media type of a client's body, because content types are not recorded. Undefined if there is no body, and
 * for JSON if clients may only send forms.
 */
export function recordedType(
  recorded: unknown,
  { mediaTypes }: Pick<Pack, "mediaTypes">,
): string | undefined {
  if (recorded === undefined) return undefined;
  const form = typeOfFormat(mediaTypes, "form");
  return form !== undefined && isForm(recorded, mediaTypes) ? form : typeOfFormat(mediaTypes, "json");
}

/**
 * The body that a client sent, and its media type. A form is recorded as its members.
 *
 * @returns the text of a form, otherwise JSON
 * @throws {RangeError} if the total length of a form's names is too long
 */
export function clientBody(
  recorded: unknown,
  pack: Pick<Pack, "mediaTypes">,
): { readonly type: string | undefined; readonly body: unknown } {
  const type = recordedType(recorded, pack);
  const isFormObject = pack.mediaTypes.formatOf(type) === "form" && hasTextsAlone(recorded);
  return { type, body: isFormObject ? printForm(recorded, "repeat") : recorded };
}
