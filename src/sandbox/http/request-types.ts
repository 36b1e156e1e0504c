/** Types of a request and of its caller. The declarations of resources use them, too. */

import type { Grants } from "../resources/hidden-state.ts";

export interface Caller {
  /** Account id (sent as `X-Customer-UUID`), the home of its rows; empty for an anonymous caller. */
  readonly account: string;
  readonly user: string;
  readonly scopes: readonly string[];
  /** Grants of a restricted user; undefined for unrestricted users. */
  readonly grants?: Grants;
}

/** `required`: no token is a 401. `optional`: without a token, only public rows are visible. `public`: no scope is needed. */
export type AuthenticationMode = "required" | "optional" | "public";

export interface SandboxRequest {
  readonly method: string;
  /** Path and query, as received. */
  readonly target: string;
  readonly authorization: string | undefined;
  readonly filter: string | undefined;
  readonly body: string;
  /** The uploaded file, which replaces the JSON body. */
  readonly upload?: Upload;
  readonly address: string;
}

export interface SandboxResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body: JSON text, or the bytes of an image. */
  readonly body: string | Uint8Array;
}

/** An uploaded file: a form member, or an image body without a name. */
export interface Upload {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A limit: a number of requests in a number of seconds. */
export interface RateLimit {
  readonly limit: number;
  readonly seconds: number;
}
