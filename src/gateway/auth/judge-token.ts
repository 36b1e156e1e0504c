/** Decides from v4's responses whether a token is accepted, for both dialects. */
import { type Access, type Grants, isSuccess, type Pack, TOO_MANY_REQUESTS } from "../../pack/index.ts";
import type { ResponseHead } from "../upstream/http-call.ts";

/** The meaning of a response of v4 for the token of its request. */
export type TokenVerdict =
  /** v4 accepted the token. `grants` is undefined if v4 did not return its scopes. */
  | { readonly says: "accepted"; readonly grants: Grants | undefined }
  /** v4 rejected the token with 401. */
  | { readonly says: "rejected" }
  /**
   * Unknown. v4's response proves neither: v4 may have refused the request for a different reason, or may have ignored
   * the token. `hasFailed`: v4 failed, which is not the client's fault.
   */
  | { readonly says: "nothing"; readonly hasFailed: boolean };

/** A call to v4. */
interface JudgedCall {
  readonly method: string;
  /** The path, with or without its query. */
  readonly path: string;
  /** The access rule of the route that makes the call. Undefined for a native call. */
  readonly access?: Access;
}

/** Judges a response to a call. */
export type JudgeToken = (call: JudgedCall, response: ResponseHead) => TokenVerdict;

const REJECTED: TokenVerdict = { says: "rejected" };
const ACCEPTED: TokenVerdict = { says: "accepted", grants: undefined };

const UNAUTHORIZED = 401;
const NOT_IMPLEMENTED = 501;

/**
 * Creates the judge of a pack. A token is accepted if v4 returns its scopes, or if a call that requires a token
 * succeeds.
 */
export function createTokenJudge({ scopes, dialect, v4Access }: Pack): JudgeToken {
  /** v4's response header that contains the scopes of the token. Undefined if missing. */
  const headerName = dialect.scopes?.header?.toLowerCase();

  /** Whether v4 serves a call without a token. Undefined if this is unknown. */
  function isPublic({ method, path, access }: JudgedCall): boolean | undefined {
    if (access === "public") return true;
    const [withoutQuery = ""] = path.split("?", 1);
    // A call that any route makes without a token is public.
    const isKnownPublic = v4Access(method, withoutQuery)?.required.includes("public");
    return isKnownPublic ?? (access === undefined ? undefined : false);
  }

  return function judgeToken(call, { status, headers }) {
    if (status === UNAUTHORIZED) return REJECTED;
    const scopeList = headerName === undefined ? undefined : headers[headerName];
    if (scopeList !== undefined) return { says: "accepted", grants: scopes.grants(String(scopeList)) };
    if (isSuccess(status) && isPublic(call) === false) return ACCEPTED;
    // A rate limit of v4 does not reject the token either. An unknown method is not a failure of v4.
    const hasFailed = status === TOO_MANY_REQUESTS || (status >= 500 && status !== NOT_IMPLEMENTED);
    return { says: "nothing", hasFailed };
  };
}
