import { HttpError } from "../../dialect/http-error.ts";
import { tokenHash } from "../../auth/token-hash.ts";
import type { AlphaRequest, Credentials } from "../context.ts";

const MALFORMED = "The Authorization header is malformed.";

/** RFC 9110 11.4: a scheme, spaces, and a token of visible characters. */
const CREDENTIALS = /^([A-Za-z][A-Za-z0-9-]*) +([\x21-\x7e]{1,4096})$/;

/** The scheme of a request's credentials in lower case; undefined without credentials or with broken ones. */
export const credentialScheme = (authorization: string | undefined): string | undefined =>
  CREDENTIALS.exec(authorization ?? "")?.[1]?.toLowerCase();

const NOBODY: Credentials = { token: undefined, hash: undefined };

const refused = (reason: string, status = 401): Credentials => ({
  ...NOBODY,
  error: new HttpError(status, reason),
});

/**
 * Who is calling. Two `Authorization` lines are refused, since the two ends of the road could each believe
 * another one. What is refused is kept with the caller until the request has been counted: refusals must not be
 * free of charge.
 *
 * @param native scheme of the native lane, where that is open: such a request is here since the lane has no such path
 * @returns with a refusal, 401, for credentials of another scheme, or such as can't be read; 404 for the native lane's
 */
export function parseCredentials(request: AlphaRequest, scheme: string, native?: string): Credentials {
  const lines = request.headers["authorization"] ?? [];
  if (lines.length > 1) return refused("There is more than one Authorization header.");
  const [line] = lines;
  if (line === undefined || line.trim() === "") return NOBODY;
  const [, given, token] = CREDENTIALS.exec(line.trim()) ?? [];
  if (token !== undefined && native !== undefined && given?.toLowerCase() === native.toLowerCase())
    return refused("Not found", 404);
  if (token === undefined || given?.toLowerCase() !== scheme.toLowerCase()) return refused(MALFORMED);
  return { token, hash: tokenHash(token) };
}
