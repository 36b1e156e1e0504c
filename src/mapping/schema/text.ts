/** Kinds of text in a pack that must follow the rules of HTTP. */
import { z } from "zod";

const TOKEN = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;

/** The name of a header (RFC 9110, section 5.1). */
export const headerName = z.string().regex(TOKEN, "is not the name of a header: letters, digits and hyphens");

/** The scheme of an `Authorization` header (RFC 9110, section 11.1). */
export const authScheme = z.string().regex(TOKEN, "is not a scheme: letters, digits and hyphens");

/** A media type, `image/png`, or `image/*` for all of a kind (RFC 9110, section 8.3.1). */
export const mediaType = z
  .string()
  .regex(/^[!#$&^\w.+-]+\/(?:\*|[!#$&^\w.+-]+)$/, "is not a media type, such as image/png");

/** The status of a final response (RFC 9110, section 15). */
export const status = z.int().min(200).max(599);

/** The start of all paths of a side. `/` is no prefix: it does not end with a slash. */
export const pathPrefix = z
  .string()
  .regex(/^\/[^?#\s]*$/, "is not the start of a path: /, or /api/v4")
  .overwrite((prefix) => prefix.replace(/(?<!\/)\/+$/, ""));
