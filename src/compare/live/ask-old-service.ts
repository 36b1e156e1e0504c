/** Repeats a client's request at the old service, for a comparison. */
import { namesMethod } from "../../pack/index.ts";
import { MAX_COMPARED_BYTES } from "../answers/compare-answers.ts";
import type { Asked, NotComparableReason, SecondAnswer } from "../answers/comparison.ts";
import {
  type AlphaRequest,
  Cancellation,
  CircuitBreaker,
  connectionOptions,
  createUpstream,
  type CurrentContext,
  HOP_BY_HOP,
  UndecodableError,
  type UpstreamClient,
  UpstreamError,
} from "../../gateway/index.ts";
import type { ComparedSides } from "./compared-sides.ts";
import { type AskedRequest, textHeaders } from "./served-request.ts";

/** Milliseconds after a request until its whole response must have arrived. */
export const COMPARISON_TIMEOUT_MS = 10_000;

/** Number of connections for comparisons, separate from those of clients. */
const CONNECTIONS = 8;
/** Maximum number of connections of one client, so that its slow calls don't block comparisons of other clients. */
const CLIENT_CONNECTIONS = 2;
/** Milliseconds that a call waits for a connection. Responses to requests at different times may differ. */
const MAX_WAIT_MS = 2000;

/**
 * Headers of a client's request that are not repeated: headers of its connection, and headers that request a partial
 * response.
 */
const NOT_SENT = new Set([
  ...HOP_BY_HOP,
  "transfer-encoding",
  "host",
  "content-length",
  // The body is decoded.
  "content-encoding",
  "expect",
  "range",
  "if-none-match",
  "if-modified-since",
  "accept-encoding",
]);

/** Returns the headers of a repeated request. Lines with the same name are joined (RFC 9110, section 5.3). */
function headersOf({ headers, id, address }: AlphaRequest): Record<string, string> {
  const sent: Record<string, string> = {};
  const named = new Set((headers["connection"] ?? []).flatMap(connectionOptions));
  for (const [name, lines] of Object.entries(headers))
    // Only the method of the request may determine its effect.
    if (lines && !NOT_SENT.has(name) && !named.has(name) && !namesMethod(name))
      sent[name] = lines.join(name === "cookie" ? "; " : ", ");
  const [host] = headers["x-forwarded-host"] ?? headers["host"] ?? [];
  return {
    ...sent,
    "x-request-id": id,
    "accept-encoding": "identity",
    // Only the address that the gateway has verified, because the old service may limit or permit by address.
    "x-forwarded-for": address,
    ...(host !== undefined && { "x-forwarded-host": host }),
  };
}

/** Errors after which a comparison has no response, by their kinds. All other errors mean that no response arrived. */
const REASONS: Readonly<Record<string, NotComparableReason>> = {
  no_connection: "budget",
  timed_out: "timeout",
  too_large: "size",
};

/** The address of the old service. */
interface OldServiceAddress {
  readonly url: URL;
  /** The certificates. Undefined: the public authorities are used. */
  readonly secureContext?: CurrentContext | undefined;
}

interface OldServiceOptions {
  /** Records the health of the old service. */
  readonly sides: Pick<ComparedSides, "beginOld" | "noteOld">;
  /** The query parameter that contains the token, if the pack defines one. */
  readonly tokenParameter?: string | undefined;
  /** Milliseconds after a request until its whole response must have arrived. Default: {@link COMPARISON_TIMEOUT_MS}. */
  readonly timeoutMs?: number;
}

/** Failures of the old service. A route only returns to a healthy service. */
const NO_ANSWER: ReadonlySet<string> = new Set(["timeout", "unreachable"]);

/** The old service for comparisons. Requests are never retried, and never write. */
export class OldService implements SecondAnswer<AskedRequest> {
  readonly source = "legacy";
  readonly #client: UpstreamClient;
  readonly #closing = new Cancellation();
  readonly #sides: OldServiceOptions["sides"];
  readonly #tokenParameter: string | undefined;

  constructor(
    { url, secureContext }: OldServiceAddress,
    { sides, tokenParameter, timeoutMs = COMPARISON_TIMEOUT_MS }: OldServiceOptions,
  ) {
    this.#sides = sides;
    this.#tokenParameter = tokenParameter;
    this.#client = createUpstream({
      name: "the old service",
      origin: url,
      timeoutMs,
      connections: CONNECTIONS,
      perToken: CLIENT_CONNECTIONS,
      networkPerFree: CLIENT_CONNECTIONS / (CONNECTIONS - CLIENT_CONNECTIONS),
      maxWaitMs: MAX_WAIT_MS,
      maxResponseBytes: MAX_COMPARED_BYTES,
      // Each comparison shows whether the old service is healthy.
      breaker: new CircuitBreaker({ minAttempts: Infinity }),
      secureContext,
      neverRetries: true,
      keepsBytes: true,
    });
  }

  /** Repeats a client's request at the old service, and records whether it is healthy. Never rejects. */
  async ask(asked: AskedRequest): Promise<Asked> {
    const { route, provenBy } = asked;
    const answer = await this.#call(asked);
    const hasFailed = typeof answer === "string" ? NO_ANSWER.has(answer) : answer.status >= 500;
    const sender = provenBy();
    // If no connection was free, it was not called.
    if (answer !== "budget" && sender !== undefined) this.#sides.noteOld(route.name, hasFailed, sender);
    return answer;
  }

  /** Sends a request over a connection of its client's share. If none is free, nothing is sent: `budget`. */
  async #call({ request, route, payer, provenBy, body }: AskedRequest): Promise<Asked> {
    const { method, path, query, queryTokens = [] } = request;
    const tokens = queryTokens.map((token) => `${this.#tokenParameter}=${encodeURIComponent(token)}`);
    let endWait = (): void => {};
    try {
      const { status, headers, bytes } = await this.#client.call(
        {
          method,
          path: query === "" ? path : `${path}?${query}`,
          secretQuery: tokens.length > 0 ? tokens.join("&") : undefined,
          headers: headersOf(request),
          body,
          client: { token: payer, networks: [payer], isKnown: true },
          onSent: () => (endWait = this.#sides.beginOld(route.name, provenBy)),
        },
        this.#closing,
      );
      return { status, headers: textHeaders(headers), body: bytes };
    } catch (error) {
      if (error instanceof UndecodableError) return "unreadable";
      return (error instanceof UpstreamError ? REASONS[error.kind] : undefined) ?? "unreachable";
    } finally {
      endWait();
    }
  }

  close(): Promise<void> {
    this.#closing.abort();
    return this.#client.destroy();
  }
}
