/** Decides from v4's responses whether a token is accepted. Both dialects ask here, and nowhere else. */
import {
  type Access,
  type FindV4Access,
  type Grants,
  isSuccess,
  type Scopes,
  TOO_MANY_REQUESTS,
} from "../../pack/index.ts";

/** The meaning of one response of v4 for the token that v4 got. */
export type TokenVerdict =
  /** v4 has accepted it. `grants` is undefined if v4 did not return its scopes. */
  | { readonly says: "accepted"; readonly grants: Grants | undefined }
  /** v4 has rejected it with 401. */
  | { readonly says: "rejected" }
  /**
   * Neither. A response that is not a rejection is not acceptance: v4 may have refused the request for another reason, or
   * have served a call without looking at the token. `hasFailed`: v4 failed, which is not the client's doing.
   */
  | { readonly says: "nothing"; readonly hasFailed: boolean };

/** A call to v4. */
interface JudgedCall {
  readonly method: string;
  /** With or without its query. */
  readonly path: string;
  /** The access rule of the route that makes the call; undefined for a call of v4's own clients. */
  readonly access?: Access;
}

/** The head of a response. Names of headers are in lower case. */
interface ResponseHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Judges a response to a call. */
export type JudgeToken = (call: JudgedCall, response: ResponseHead) => TokenVerdict;

export interface TokenJudgeOptions {
  readonly scopes: Scopes;
  /** v4's response header with the scopes of the token; undefined if v4 has none. */
  readonly scopesHeader: string | undefined;
  /** Says which calls are public. */
  readonly accessOf: FindV4Access;
}

const REJECTED: TokenVerdict = { says: "rejected" };
const ACCEPTED: TokenVerdict = { says: "accepted", grants: undefined };

const UNAUTHORIZED = 401;
const NOT_IMPLEMENTED = 501;

/** Creates the judge of a pack. Only v4's scopes, and the success of a call that v4 checks, show that it accepts a token. */
export function createTokenJudge({ scopes, scopesHeader, accessOf }: TokenJudgeOptions): JudgeToken {
  const headerName = scopesHeader?.toLowerCase();

  /** Whether v4 serves a call without a token; undefined if nobody knows. */
  function isPublic({ method, path, access }: JudgedCall): boolean | undefined {
    if (access === "public") return true;
    const [withoutQuery = ""] = path.split("?", 1);
    // A call that any route makes for everybody is served without a token.
    const isKnownPublic = accessOf(method, withoutQuery)?.required.includes("public");
    return isKnownPublic ?? (access === undefined ? undefined : false);
  }

  return function judgeToken(call, { status, headers }) {
    if (status === UNAUTHORIZED) return REJECTED;
    const scopeList = headerName === undefined ? undefined : headers[headerName];
    if (scopeList !== undefined) return { says: "accepted", grants: scopes.grants(String(scopeList)) };
    if (isSuccess(status) && isPublic(call) === false) return ACCEPTED;
    // v4's own limit does not reject this request either. A method that v4 does not have is no failure.
    const hasFailed = status === TOO_MANY_REQUESTS || (status >= 500 && status !== NOT_IMPLEMENTED);
    return { says: "nothing", hasFailed };
  };
}
