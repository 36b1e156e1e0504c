/** The policy of the forward for requests of one kind: those in the upstream's own dialect, or those for the old service. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { AlphaRequest } from "../pipeline/request.ts";
import type { ForwardRecording } from "../record/forwarded-record.ts";
import type { AuthorizeNative } from "./native-authorization.ts";
import type { LookUpNativeToken } from "./native-rate-limit.ts";

/** An error of the gateway. */
export interface ForwardError {
  readonly status: number;
  /** JSON. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The errors of the gateway by event. */
export interface ForwardErrors {
  /** The upstream can't be reached or broke off, or the gateway failed. */
  readonly failed: ForwardError;
  /** The upstream did not respond in time. */
  readonly timedOut: ForwardError;
  /** The circuit is open, or all connections are in use. */
  readonly unavailable: ForwardError;
  /** The client has too many requests. */
  readonly limited: ForwardError;
}

/** Decides who may use the upstream. */
export interface ForwardGate {
  /** The upstream's scheme, for a token that replaces the client's. */
  readonly scheme: string;
  readonly lookUp: LookUpNativeToken;
  readonly authorize: AuthorizeNative;
  /** JSON body of an error with this reason and this status. */
  readonly errorBody: (reason: string, status: number) => string;
}

/** The parts of the active pack and of the gateway that the forward needs. */
export interface ForwardPolicy {
  readonly errors: ForwardErrors;
  /** Undefined: the upstream decides about all requests, as if there were no gateway. */
  readonly gate?: ForwardGate;
  /** Whether the upstream has accepted the token before, where there is no gate. */
  readonly isKnown?: (hash: string) => boolean;
  /** The error for a request that can't be forwarded, and why; undefined for all others. */
  readonly refuse?: (request: IncomingMessage) => (ForwardError & { readonly fault: string }) | undefined;
  /** Removes from the headers of a request what the upstream must not get. */
  readonly prepareRequest: (request: IncomingMessage) => void;
  /** Removes from the headers of a response what clients must not get. */
  readonly cleanResponse: (headers: IncomingHttpHeaders) => void;
  /** Whether browsers get the gateway's CORS headers, and none of the upstream's. */
  readonly hasOwnCors: boolean;
  /** Request headers that a response depends on, for caches: the scheme of the credentials decides between the dialects. */
  readonly vary: readonly string[];
  /** The hash of the client's token; undefined without one. */
  readonly hashOf: (plain: AlphaRequest, token: string) => string | undefined;
  readonly startRecording: (plain: AlphaRequest, hash: string | undefined) => ForwardRecording;
  /** Whether a response ends only after its record is durable. */
  readonly recordFirst: boolean;
}
