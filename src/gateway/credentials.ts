import { Refusal } from "../dialect/refusal.ts";
import { tokenHash } from "../tokens/fingerprint.ts";
import type { AlphaRequest, Caller } from "./exchange.ts";

const MALFORMED = "The Authorization header is malformed.";

/** RFC 9110 11.4: a scheme, spaces, and a token of visible characters. */
const CREDENTIALS = /^([A-Za-z][A-Za-z0-9-]*) +([\x21-\x7e]{1,4096})$/;

/** The scheme of a request's credentials in lower case; undefined without credentials or with broken ones. */
export const credentialScheme = (authorization: string | undefined): string | undefined =>
  CREDENTIALS.exec(authorization ?? "")?.[1]?.toLowerCase();

const NOBODY: Caller = { token: undefined, hash: undefined };

const refused = (reason: string): Caller => ({ ...NOBODY, refusal: new Refusal(401, reason) });

/**
 * Who is calling. Two `Authorization` lines are refused, since the two ends of the road could each believe
 * another one. What is refused is kept with the caller until the request has been counted: refusals must not be
 * free of charge.
 *
 * @returns with a refusal, 401, for credentials of another scheme, or such as can't be read.
 */
export function identify(request: AlphaRequest, scheme: string): Caller {
  const lines = request.headers["authorization"] ?? [];
  if (lines.length > 1) return refused("There is more than one Authorization header.");
  const [line] = lines;
  if (line === undefined || line.trim() === "") return NOBODY;
  const [, given, token] = CREDENTIALS.exec(line.trim()) ?? [];
  if (token === undefined || given?.toLowerCase() !== scheme.toLowerCase()) return refused(MALFORMED);
  return { token, hash: tokenHash(token) };
}
