import { setTimeout as wait } from "node:timers/promises";
import { Agent } from "undici";
import { decoded } from "./decode.ts";
import { UpstreamFault, upstreamFault } from "./fault.ts";

/** One call to v4. */
export interface V4Call {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface V4Answer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body, decoded; empty where there was none. */
  readonly text: string;
  /** Milliseconds from sending to the whole answer, tries that failed included. */
  readonly ms: number;
}

export interface Upstream {
  /**
   * Makes one call. A GET that got no answer, or 502, 503 or 504, is tried twice more; nothing else is ever
   * sent twice (creating costs money). Redirects are answers like any other and are never followed.
   *
   * @param signal ends the call when the client goes away.
   * @throws {UpstreamFault} when no answer could be read.
   */
  call(call: V4Call, signal?: AbortSignal): Promise<V4Answer>;
  /** Ends idle connections and waits for calls under way. */
  close(): Promise<void>;
}

export interface UpstreamOptions {
  readonly origin: URL;
  readonly timeoutMs: number;
  readonly connections: number;
  /** Largest answer in bytes, decoded. */
  readonly answerLimit?: number;
}

const ANSWER_LIMIT = 16 * 1024 * 1024;

/** Calls that may wait for a connection, for each connection; more than that would time out in the queue anyway. */
const WAITING_PER_CONNECTION = 16;

/** Before the second and third try. A restart of v4 takes longer; these bridge a lost connection. */
const PAUSES_MS = [50, 250];

const WORTH_ANOTHER_TRY = new Set([502, 503, 504]);

/** The time limit and the client's going away, as one signal; `end` must be called when the call is over. */
function deadline(ms: number, client: AbortSignal | undefined): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController();
  const gone = () => controller.abort(new UpstreamFault("gone", "the client went away"));
  const timer = setTimeout(
    () => controller.abort(new UpstreamFault("timed_out", `no answer in ${ms} ms`)),
    ms,
  );
  if (client?.aborted) gone();
  client?.addEventListener("abort", gone, { once: true });
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      client?.removeEventListener("abort", gone);
    },
  };
}

/** Makes the client of one v4 service: one pool of kept-alive connections. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { origin, timeoutMs, connections, answerLimit = ANSWER_LIMIT } = options;
  const base = origin.pathname.replace(/\/$/, "");
  const agent = new Agent({
    connections,
    connect: { timeout: Math.min(timeoutMs, 10_000) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: answerLimit,
  });
  const most = connections * (1 + WAITING_PER_CONNECTION);
  let underWay = 0;

  async function once(
    { method, path, headers, body }: V4Call,
    signal: AbortSignal,
  ): Promise<Omit<V4Answer, "ms">> {
    const answer = await agent.request({
      origin: origin.origin,
      path: base + path,
      method,
      headers,
      signal,
      ...(body !== undefined && { body }),
    });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    const coding = answer.headers["content-encoding"];
    const data = coding === undefined ? bytes : await decoded(bytes, String(coding), answerLimit);
    return { status: answer.statusCode, headers: answer.headers, text: data.toString("utf8") };
  }

  async function tries(call: V4Call, signal: AbortSignal): Promise<Omit<V4Answer, "ms">> {
    for (const pause of call.method === "GET" ? PAUSES_MS : []) {
      const answer = await once(call, signal).catch(upstreamFault);
      if (signal.aborted) throw signal.reason;
      if (!(answer instanceof UpstreamFault) && !WORTH_ANOTHER_TRY.has(answer.status)) return answer;
      if (answer instanceof UpstreamFault && ["too_large", "timed_out"].includes(answer.kind)) throw answer;
      await wait(pause, undefined, { signal });
    }
    return once(call, signal);
  }

  return {
    async call(call, client) {
      if (underWay >= most) throw new UpstreamFault("overloaded", `${underWay} calls are waiting for v4`);
      const started = performance.now();
      const { signal, end } = deadline(timeoutMs, client);
      underWay += 1;
      try {
        return { ...(await tries(call, signal)), ms: performance.now() - started };
      } catch (error) {
        throw upstreamFault(signal.aborted ? signal.reason : error);
      } finally {
        underWay -= 1;
        end();
      }
    },
    close: () => agent.close(),
  };
}
