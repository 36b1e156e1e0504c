/** Repeats a client's request at the old service, for a comparison. */
import { Pool } from "undici";
import { namesMethod } from "../../pack/index.ts";
import { MAX_COMPARED_BYTES } from "../answers/compare-answers.ts";
import type { Answer, Asked, NotComparableReason, SecondAnswer } from "../answers/comparison.ts";
import {
  type AlphaRequest,
  connectionOptions,
  ConnectionShares,
  createTlsConnector,
  type CurrentContext,
  decodeContent,
  HOP_BY_HOP,
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

function headersOf({ headers, id, address }: AlphaRequest): Record<string, string | string[]> {
  const sent: Record<string, string | string[]> = {};
  const named = new Set((headers["connection"] ?? []).flatMap(connectionOptions));
  for (const [name, lines] of Object.entries(headers))
    // Only the method of the request may determine its effect.
    if (lines && !NOT_SENT.has(name) && !named.has(name) && !namesMethod(name)) sent[name] = [...lines];
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

/** Errors after which a comparison has no response, by their names. All other errors mean that no response arrived. */
const REASONS: Readonly<Record<string, NotComparableReason>> = {
  TimeoutError: "timeout",
  HeadersTimeoutError: "timeout",
  BodyTimeoutError: "timeout",
  ResponseExceededMaxSizeError: "size",
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
  readonly #pool: Pool;
  readonly #basePath: string;
  readonly #sides: OldServiceOptions["sides"];
  readonly #tokenParameter: string | undefined;
  readonly #timeoutMs: number;
  readonly #connections = new ConnectionShares({
    size: CONNECTIONS,
    perToken: CLIENT_CONNECTIONS,
    networkPerFree: CLIENT_CONNECTIONS / (CONNECTIONS - CLIENT_CONNECTIONS),
    maxWaitMs: MAX_WAIT_MS,
  });

  constructor(
    { url, secureContext }: OldServiceAddress,
    { sides, tokenParameter, timeoutMs = COMPARISON_TIMEOUT_MS }: OldServiceOptions,
  ) {
    this.#sides = sides;
    this.#timeoutMs = timeoutMs;
    this.#pool = new Pool(url.origin, {
      connections: CONNECTIONS,
      pipelining: 1,
      maxResponseSize: MAX_COMPARED_BYTES,
      allowH2: false,
      ...(secureContext && { connect: createTlsConnector(secureContext, timeoutMs) }),
    });
    this.#basePath = url.pathname.replace(/\/$/, "");
    this.#tokenParameter = tokenParameter;
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
    let release: () => void;
    try {
      const { signal } = new AbortController();
      release = await this.#connections.acquire({ token: payer, networks: [payer], isKnown: true }, signal);
    } catch {
      return "budget";
    }
    const endWait = this.#sides.beginOld(route.name, provenBy);
    try {
      return await this.#send(request, body, endWait);
    } catch (error) {
      return REASONS[(error as Error).name] ?? "unreachable";
    } finally {
      endWait();
      release();
    }
  }

  async #send(request: AlphaRequest, sent: Buffer | undefined, onHead: () => void): Promise<Asked> {
    const { method, path, query, queryTokens = [] } = request;
    const tokens = queryTokens.map((token) => `${this.#tokenParameter}=${encodeURIComponent(token)}`);
    const search = [query, ...tokens].filter(Boolean).join("&");
    const response = await this.#pool.request({
      method,
      path: `${this.#basePath}${path}${search === "" ? "" : `?${search}`}`,
      headers: headersOf(request),
      body: sent ?? null,
      signal: AbortSignal.timeout(this.#timeoutMs),
    });
    onHead();
    // The pool ends a longer body, but waits for its bytes.
    if (method !== "HEAD" && Number(response.headers["content-length"]) > MAX_COMPARED_BYTES) {
      response.body.destroy();
      return "size";
    }
    const headers = textHeaders(response.headers);
    const body = Buffer.from(await response.body.arrayBuffer());
    try {
      const decoded = await decodeContent(body, headers["content-encoding"], MAX_COMPARED_BYTES);
      return { status: response.statusCode, headers, body: decoded };
    } catch {
      return "unreadable";
    }
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
