import { isUtf8 } from "node:buffer";
import { Pool } from "undici";
import { createBreaker, type Breaker, type BreakerOptions } from "./breaker.ts";
import { decoded } from "./decode.ts";
import { isOutage, isUnsendable, OUTAGE_STATUSES, UpstreamFault, upstreamFault } from "./fault.ts";
import type { FileUpstream } from "./stream.ts";
import { OneAnswer, type RawAnswer } from "./one-answer.ts";

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
  /** The same in UTF-8, where it came from a wire. */
  readonly bytes?: Buffer | undefined;
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
  readonly breaker?: BreakerOptions;
}

/** The client of one v4 service. */
export interface UpstreamClient extends Upstream, FileUpstream {
  /** Its circuit breaker, for others who ask the same v4. */
  readonly breaker: Breaker;
}

const ANSWER_LIMIT = 16 * 1024 * 1024;

/** Calls that may wait for a connection, for each connection; more than that would time out in the queue anyway. */
const WAITING_PER_CONNECTION = 16;

/** Before the second and third try. A restart of v4 takes longer; these bridge a lost connection. */
const PAUSES_MS = [50, 250];

/** Faults after which another try is no use. */
const FINAL = new Set(["too_large", "timed_out", "open"]);

/** What ends a call from outside: the time limit, and the client's going away. */
interface Limits {
  /** Why the call has been ended; undefined while it hasn't. */
  readonly over: () => UpstreamFault | undefined;
  /** Calls back when it is, once; instead of the listener before. */
  onOver(listener: (fault: UpstreamFault) => void): void;
  /** Must be called when the call has ended by itself. */
  release(): void;
}

function limitsOf(ms: number, client: AbortSignal | undefined): Limits {
  let fault: UpstreamFault | undefined;
  let listener: (fault: UpstreamFault) => void = () => {};
  function end(kind: "gone" | "timed_out", message: string): void {
    if (fault) return;
    fault = new UpstreamFault(kind, message);
    listener(fault);
  }
  const gone = () => end("gone", "the client went away");
  const timer = setTimeout(() => end("timed_out", `no answer in ${ms} ms`), ms);
  if (client?.aborted) gone();
  client?.addEventListener("abort", gone, { once: true });
  return {
    over: () => fault,
    onOver(given) {
      listener = given;
    },
    release() {
      clearTimeout(timer);
      client?.removeEventListener("abort", gone);
    },
  };
}

/** Waits, and not beyond the call's limits. */
function pauseFor(ms: number, limits: Limits): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    limits.onOver((fault) => {
      clearTimeout(timer);
      reject(fault);
    });
  });
}

/** Makes the client of one v4 service: one pool of kept-alive connections. */
export function createUpstream(options: UpstreamOptions): UpstreamClient {
  const { origin, timeoutMs, connections, answerLimit = ANSWER_LIMIT } = options;
  const base = origin.pathname.replace(/\/$/, "");
  const makePool = (): Pool =>
    new Pool(origin.origin, {
      connections,
      connect: { timeout: Math.min(timeoutMs, 10_000) },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      maxResponseSize: answerLimit,
    });
  let pool = makePool();
  const most = connections * (1 + WAITING_PER_CONNECTION);
  const breaker = createBreaker(options.breaker);
  let underWay = 0;

  function enter(): void {
    if (!breaker.admits()) throw new UpstreamFault("open", "v4 fails, and is left alone for a moment");
  }
  const answered = (status: number): void =>
    breaker.ended(OUTAGE_STATUSES.has(status) ? "failed" : "answered");
  function failed(error: unknown): void {
    breaker.ended(isOutage(error) ? "failed" : "neither");
    if (!isUnsendable(error)) return;
    // undici's pool takes a refusal to send for a connection that is full, for good: each costs it one.
    const spoilt = pool;
    pool = makePool();
    void spoilt.close();
  }

  function exchange({ method, path, headers, body }: V4Call, limits: Limits): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      const answer = new OneAnswer(resolve, reject);
      const over = limits.over();
      if (over) return reject(over);
      limits.onOver((fault) => answer.breakOff(fault));
      pool.dispatch({ path: base + path, method, headers, body: body ?? null }, answer);
    });
  }

  async function attempt(call: V4Call, limits: Limits): Promise<RawAnswer> {
    enter();
    try {
      const answer = await exchange(call, limits);
      answered(answer.status);
      return answer;
    } catch (error) {
      failed(error);
      throw error;
    }
  }

  async function once(call: V4Call, limits: Limits): Promise<Omit<V4Answer, "ms">> {
    const { status, headers, body } = await attempt(call, limits);
    const coding = headers["content-encoding"];
    const data = coding === undefined ? body : await decoded(body, String(coding), answerLimit);
    const text = data.toString("utf8");
    // What is no UTF-8 became U+FFFD in the text, and must be that in what is made of the bytes.
    return { status, headers, text, bytes: isUtf8(data) ? data : Buffer.from(text) };
  }

  async function tries(call: V4Call, limits: Limits): Promise<Omit<V4Answer, "ms">> {
    for (const pause of call.method === "GET" ? PAUSES_MS : []) {
      const answer = await once(call, limits).catch(upstreamFault);
      const over = limits.over();
      if (over) throw over;
      if (!(answer instanceof UpstreamFault) && !OUTAGE_STATUSES.has(answer.status)) return answer;
      if (answer instanceof UpstreamFault && FINAL.has(answer.kind)) throw answer;
      await pauseFor(pause, limits);
    }
    return once(call, limits);
  }

  return {
    async call(call, client) {
      if (underWay >= most) throw new UpstreamFault("overloaded", `${underWay} calls are waiting for v4`);
      const started = performance.now();
      const limits = limitsOf(timeoutMs, client);
      underWay += 1;
      try {
        const { status, headers, text, bytes } = await tries(call, limits);
        return { status, headers, text, bytes, ms: performance.now() - started };
      } catch (error) {
        throw limits.over() ?? upstreamFault(error);
      } finally {
        underWay -= 1;
        limits.release();
      }
    },
    async stream({ method, path, headers, body }, signal) {
      if (underWay >= most) throw new UpstreamFault("overloaded", `${underWay} calls are waiting for v4`);
      enter();
      underWay += 1;
      const over = () => void (underWay -= 1);
      try {
        const sent = { path: base + path, method: method as "GET", headers, body: body ?? null, signal };
        const answer = await pool.request(sent);
        answered(answer.statusCode);
        answer.body.once("close", over);
        return { status: answer.statusCode, headers: answer.headers, body: answer.body };
      } catch (error) {
        over();
        failed(signal.aborted ? undefined : error);
        throw signal.aborted ? new UpstreamFault("gone", "the client went away") : error;
      }
    },
    breaker,
    close: () => pool.close(),
  };
}
