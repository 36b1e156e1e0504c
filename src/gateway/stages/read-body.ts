import { HttpError, type Pack, parseForm, type SentJson, wrongMediaType } from "../../pack/index.ts";
import { addressNetworks, parseJson } from "../../base/index.ts";
import { header, type AlphaRequest, type ReadJson } from "../request/request.ts";
import type { RouteAccess } from "./authorize.ts";

/** Maximum nesting: deeper than any body of either dialect. */
const MOST_LEVELS = 32;
/** Maximum total number of members and items of a body: its cost depends more on their number than on its bytes. */
export const MOST_VALUES = 20_000;
/** Maximum number of characters of a member name. Errors and forms repeat the names that lead to a value. */
const MOST_NAME_LENGTH = 1000;

/** The status for a media type that a path does not accept (RFC 9110, section 15.5.16). */
const UNSUPPORTED_MEDIA_TYPE = 415;

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parseFormat(text: string, format: "json" | "form"): unknown {
  const limits = { maxDepth: MOST_LEVELS, maxValues: MOST_VALUES, maxNameLength: MOST_NAME_LENGTH };
  return format === "form" ? parseForm(text, limits) : parseJson(text, limits);
}

/** Returns the text for clients about a limit of {@link parseJson} or {@link parseForm}. */
function limitReason({ message }: RangeError): string {
  if (message.startsWith("name")) return `The body has a name of more than ${MOST_NAME_LENGTH} characters.`;
  return message.includes("nested") ? "The body is nested too deeply." : "The body has too many members.";
}

/**
 * Parses a body. A pack may define that the literal `null` means no body.
 *
 * @throws {HttpError} 400 for a body that does not match its media type; 415 for an unsupported media type
 */
export function parseBody(
  request: AlphaRequest,
  body: Buffer | undefined,
  { mediaTypes }: Pick<Pack, "mediaTypes">,
): SentJson {
  if (!body || body.length === 0) return { value: {}, isForm: false, isAbsent: true };
  const type = header(request, "content-type");
  const format = mediaTypes.formatOf(type);
  const wrongType = (): HttpError => new HttpError(UNSUPPORTED_MEDIA_TYPE, wrongMediaType(mediaTypes.names));
  if (format === undefined) throw wrongType();
  try {
    const value = parseFormat(utf8.decode(body), format);
    const isAbsent = value === null && mediaTypes.nullIsAbsent;
    return { value: isAbsent ? {} : value, isForm: format === "form", isAbsent };
  } catch (error) {
    if (error instanceof RangeError) throw new HttpError(400, limitReason(error));
    if (format === "form") throw new HttpError(400, "The body is not a valid form.");
    throw type === undefined || /json/i.test(type)
      ? new HttpError(400, "The body is not valid JSON.")
      : wrongType();
  }
}

/**
 * Reads the body of an authorized request. The body of an upload is not read: it is streamed to v4.
 *
 * @param token the hash of the client's token
 * @param isKnown whether v4 has accepted it
 * @returns undefined if there is nothing to read
 * @throws {HttpError} as {@link ReadBody}
 */
export async function readBody(
  { readBody: read, address }: AlphaRequest,
  [first]: readonly RouteAccess[],
  token: string | undefined,
  isKnown: boolean,
): Promise<Buffer | undefined> {
  return first?.match.route.upload
    ? undefined
    : read?.({ isKnown, token, networks: addressNetworks(address) });
}

/** Parses a body once, on first use. */
export function parseOnUse(
  request: AlphaRequest,
  body: Buffer | undefined,
  pack: Pick<Pack, "mediaTypes">,
): ReadJson {
  let json: SentJson | undefined;
  return () => (json ??= parseBody(request, body, pack));
}
