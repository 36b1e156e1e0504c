/** The end of a forwarded request, and its part of the record, for v4 and for the old service. */
import type { IncomingHttpHeaders } from "node:http";
import type { Rejection } from "../../pack/index.ts";
import type { AlphaRequest } from "../pipeline/request.ts";
import type { RecordedExchange } from "./recorded-exchange.ts";
import { beganAt } from "./recorded-request.ts";

/** The end of a forwarded request. */
export interface ForwardOutcome {
  readonly status: number;
  /** Of the upstream's response; null without one, undefined if the upstream was not called. */
  readonly upstreamStatus: number | null | undefined;
  /** Whether all of the upstream's response has come. */
  readonly isComplete?: boolean;
  /** Whether the upstream has accepted the token, in this request or before. */
  readonly isAccepted: boolean;
  /** The application that the gateway has issued the token to. */
  readonly application?: string | undefined;
  /** Whether the response is an error of the gateway because the upstream has failed, or the gateway has. */
  readonly hasFailed?: boolean;
  /** Why the gateway itself rejected the request, where such rejections are counted. */
  readonly rejectedBy?: Rejection["by"] | undefined;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly warnings: readonly string[];
  readonly ms: number;
}

/** The notes about one exchange while it passes, and its record. */
export interface ForwardRecording {
  /** A part of the client's body. */
  readonly onSent?: (chunk: Buffer) => void;
  /** The head of the response, as the upstream sent it. */
  readonly onHead: (headers: IncomingHttpHeaders) => void;
  /** A part of its body. */
  readonly onReceived: (chunk: Buffer) => void;
  /** Records the exchange. @throws where the record cannot be written */
  readonly record: (outcome: ForwardOutcome) => Promise<void>;
}

/** A forwarded request, once its response has ended. */
export interface ForwardedExchange extends RecordedExchange {
  readonly outcome: ForwardOutcome;
}

/** The common part of the exchanges of both lanes. @param wasCalled whether the time of the request is the upstream's */
export function createForwarded(
  request: AlphaRequest,
  hash: string | undefined,
  outcome: ForwardOutcome,
  wasCalled: boolean,
): Omit<ForwardedExchange, "lane" | "route" | "calls" | "sender" | "read"> {
  const { status, rejectedBy, warnings, ms, bytesIn, bytesOut } = outcome;
  return {
    request,
    hash,
    outcome,
    status,
    rejectedBy,
    warnings,
    losses: [],
    timings: { total: ms, upstream: wasCalled ? ms : 0, translation: 0 },
    beganAt: () => beganAt(request),
    bytes: () => ({ in: bytesIn, out: bytesOut }),
  };
}
