/** A request of any lane and its response, as plain data: for its record, the metrics, the log and the trace. */
import type { AuditRecord } from "../../audit/index.ts";
import type { Rejection } from "../../pack/index.ts";
import type { UpstreamCallRecord } from "../calls/instrument-call.ts";
import { type ApplicationId, applicationOf, type RequestContext } from "../request/context.ts";
import { type AlphaRequest, header } from "../request/request.ts";
import type { AlphaResponse, RequestOutcome } from "../request/response.ts";
import type { BodyStart, DecodedStart } from "./body-start.ts";

/** Cheap to create: texts and bodies are only read when a record is created. With `AUDIT=off`, no record is created. */
export interface RecordedExchange {
  readonly lane: AuditRecord["lane"];
  readonly request: AlphaRequest;
  /** The hash of the client's token. Undefined if there is no token. */
  readonly hash: string | undefined;
  readonly application: ApplicationId | undefined;
  /** Whether the service accepted the token, or the login server accepted the application. */
  readonly isAccepted: boolean;
  /** Whether long texts of the request are recorded: untrusted senders could send any number of them. */
  readonly isTrusted: boolean;
  /** Whether a long body is recorded, even if the sender is untrusted. */
  readonly isServed: boolean;
  /** Name of the route; null if no route of the pack matched, and for the native proxy. */
  readonly route: string | null;
  /** Guesses the route of an API without a pack. @param path Without secrets. */
  readonly guessRoute?: ((path: string) => string | null) | undefined;
  readonly status: number;
  /** Whether the service or the gateway has failed, regardless of the status. */
  readonly hasFailed: boolean;
  /** The reason why the gateway rejected the request, for rejections that are counted. */
  readonly rejectedBy: Rejection["by"] | undefined;
  /** The calls to v4. */
  readonly calls: readonly Pick<UpstreamCallRecord, "status" | "ms">[];
  readonly losses: ReadonlySet<string>;
  readonly warnings: readonly string[];
  readonly timings: AuditRecord["timings"];
  /** The start of the request, in milliseconds since the epoch. */
  readonly beganAt: number;
  readonly traceparent: string | undefined;
  /** Only for the lane `alpha`: the data that the pipeline has collected, and its response. */
  readonly translated?: { readonly context: RequestContext; readonly response: AlphaResponse };
  /** Only for the other lanes. The starts of the bodies are decoded. */
  readonly forwarded?: ForwardedMessages<DecodedStart>;
}

/** A forwarded request and the upstream's response. */
interface ForwardedMessages<Start> {
  /** Status of the upstream's response. Null if missing, undefined if the upstream was not called. */
  readonly upstreamStatus: number | null | undefined;
  /** Whether the whole response has arrived. */
  readonly isComplete: boolean;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** The start of the request's body. Undefined if no part of it was sent, and in the lane `native`. */
  readonly sent: Start | undefined;
  /** The start of the response's body, with all headers of the response. Undefined if there is no response. */
  readonly received: Start | undefined;
}

/** A forwarded exchange before its record. */
export interface ForwardedExchange extends Omit<RecordedExchange, "forwarded"> {
  readonly forwarded: ForwardedMessages<BodyStart>;
}

/** Rounds milliseconds to microseconds. More digits are noise, take time to print and can't be compressed. */
export const roundMs = (ms: number): number => Math.round(ms * 1000) / 1000;

/** Whether v4 has accepted the token of a request, in this request or before. */
export const isAccepted = ({ upstream, token, client }: RequestContext): boolean =>
  upstream?.isTokenAccepted === true || (token ?? client)?.isAccepted === true;

function timingsOf({ startedAt, endedAt, upstream }: RequestContext): AuditRecord["timings"] {
  const total = (endedAt ?? performance.now()) - startedAt;
  const upstreamMs = upstream?.upstreamMs ?? 0;
  return {
    total: roundMs(total),
    upstream: roundMs(upstreamMs),
    translation: roundMs(Math.max(0, total - upstreamMs)),
  };
}

/** Creates the exchange of a translated request after its response is known. */
export function translatedExchange(
  request: AlphaRequest,
  { status, meaning, response }: RequestOutcome,
  context: RequestContext,
): RecordedExchange {
  const { client, upstream, rejectedBy, losses, warnings } = context;
  const hash = client?.credentials.hash;
  const application = applicationOf(context);
  return {
    lane: "alpha",
    request,
    hash,
    application,
    isAccepted: hash === undefined ? application?.isProven === true : isAccepted(context),
    isTrusted: isAccepted(context),
    isServed: meaning === "succeeded",
    route: context.route ?? context.match?.route.name ?? null,
    status,
    hasFailed: meaning === "failed",
    rejectedBy,
    calls: upstream?.calls ?? [],
    losses,
    warnings,
    timings: timingsOf(context),
    beganAt: context.time.getTime(),
    traceparent: upstream?.traceparent ?? header(request, "traceparent"),
    translated: { context, response },
  };
}
