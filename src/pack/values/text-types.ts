/** Kinds of text in a pack that must follow the rules of HTTP. */
import { z } from "zod";

const TOKEN = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;

/** Creates the schema of a text that matches an expression. @param problem the message for other texts, after their name */
const matching = (form: RegExp, problem: string) => z.string().regex(form, problem);

/** The name of a header (RFC 9110, section 5.1). */
export const headerName = matching(TOKEN, "is not the name of a header: letters, digits and hyphens");

/** Headers that frame a message, or that the gateway writes itself. */
const RESERVED =
  /^(?:accept|accept-encoding|connection|content-(?:encoding|length|type)|cookie|expect|host|keep-alive|proxy-.*|set-cookie|te|traceparent|trailer|transfer-encoding|upgrade|user-agent|x-request-id)$/i;

const RESERVED_HINT = "is a header that frames messages, or that the gateway writes itself";

const wordHeaderName = matching(/^[\w-]+$/, "is not the name of a header: letters, digits and hyphens");

const isFree = (name: string): boolean => !RESERVED.test(name);

/** The name of a header that a pack may read and write. */
export const fieldHeaderName = wordHeaderName.refine(isFree, RESERVED_HINT);

/** The name of a header of the client's responses that a pack may write. */
export const responseHeaderName = wordHeaderName.refine(isFree, {
  error: ({ input }) =>
    String(input).toLowerCase() === "content-type"
      ? `${RESERVED_HINT}: use "client.content_type"`
      : RESERVED_HINT,
});

/** The value of a header (RFC 9110, section 5.5): visible ASCII characters, with blanks between them. */
export const headerValue = matching(
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
  "is not the value of a header: ASCII without line breaks",
);

/** A media type with parameters. */
const MEDIA_TYPE = /^[!#$&^\w.+-]+\/[!#$&^\w.+-]+(?: *; *[\w-]+=[\w.-]+)*$/;

/** A media type with parameters, `application/json;version=2`. */
export const versionMediaType = matching(
  MEDIA_TYPE,
  "is not a media type, such as application/vnd.shop.v1+json",
);

/** The media type of a text with parameters, `text/csv; charset=utf-8`. */
export const textMediaType = matching(
  MEDIA_TYPE,
  "is not a media type, such as text/csv; charset=utf-8",
).refine(
  (type) => !/^[^;]*[/+]json\b/i.test(type),
  'is a media type of JSON, which is that of "client.content_type"',
);

/** A media type of JSON with parameters, `application/json; charset=utf-8`. */
export const jsonMediaType = matching(
  /^(?:application\/json|text\/json|[!#$&^\w.+-]+\/[!#$&^\w.-]+\+json)(?: *; *[\w-]+=[\w.-]+)*$/i,
  "is not a media type of JSON, such as application/json; charset=utf-8",
);

/** The name of a query parameter. */
export const parameterName = matching(
  /^[^\s&=#?]+$/,
  "is not the name of a query parameter: no blanks, and none of & = # ?",
);

/** The name of a cookie (RFC 6265, section 4.1.1). */
export const cookieName = matching(
  /^[\w.-]+$/,
  "is not the name of a cookie: letters, digits, hyphens and dots",
);

/** The scheme of an `Authorization` header (RFC 9110, section 11.1). */
export const authScheme = matching(TOKEN, "is not a scheme: letters, digits and hyphens");

/** The realm of a challenge. It contains no characters that a quoted string escapes (RFC 9110, section 5.6.4). */
export const realm = matching(
  /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/,
  "is not a realm: ASCII without quotation marks and backslashes",
);

/** A media type, `image/png`, or `image/*` for all of a kind (RFC 9110, section 8.3.1). */
export const mediaType = matching(
  /^[!#$&^\w.+-]+\/(?:\*|[!#$&^\w.+-]+)$/,
  "is not a media type, such as image/png",
);

/** The status of a final response (RFC 9110, section 15). */
export const status = z.int().min(200).max(599);

/** The status of an error. */
export const errorStatus = z.int().min(400).max(599);

/** The start of all paths of a side. `/` means no prefix: a prefix does not end with a slash. */
export const pathPrefix = matching(/^\/[^?#\s]*$/, "must be a path prefix such as / or /api/v4").overwrite(
  (prefix) => prefix.replace(/(?<!\/)\/+$/, ""),
);
