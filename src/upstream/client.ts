import { isUtf8 } from "node:buffer";
import { Pool } from "undici";
import { createCircuitBreaker, type CircuitBreaker, type CircuitBreakerOptions } from "./circuit-breaker.ts";
import { decodeContent } from "./content-decoding.ts";
import {
  isUnsendable,
  OUTAGE_STATUSES,
  outcomeOfError,
  outcomeOfStatus,
  UpstreamError,
  toUpstreamError,
} from "./upstream-error.ts";
import type { FileUpstream, StreamResponse, StreamRequest } from "./file-client.ts";
import { ResponseCollector, type RawResponse } from "./response-collector.ts";
import { createConnectionShares, type ShareClient } from "./connection-shares.ts";

/** One call to v4. */
export interface HttpRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Whose call it is: each client has a share of the connections. Undefined for a call of the gateway itself. */
  readonly client?: ShareClient | undefined;
}

export interface HttpResponse {
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
   * @throws {UpstreamError} when no answer could be read.
   */
  call(call: HttpRequest, signal?: AbortSignal): Promise<HttpResponse>;
  /** Ends idle connections and waits for calls under way. */
  close(): Promise<void>;
}

export interface UpstreamOptions {
  readonly origin: URL;
  readonly timeoutMs: number;
  readonly connections: number;
  /** Largest answer in bytes, decoded. */
  readonly answerLimit?: number;
  readonly breaker?: CircuitBreakerOptions;
}

/** The client of one v4 service. */
export interface UpstreamClient extends Upstream, FileUpstream {
  /** Its circuit breaker, for others who ask the same v4. */
  readonly breaker: CircuitBreaker;
  /** Why connections are short now: empty where they aren't. */
  shortages(): readonly string[];
}

const ANSWER_LIMIT = 16 * 1024 * 1024;

/** Of the connections for calls, as many more are for files: an eighth, and not less than two. */
const fileConnections = (connections: number): number => Math.max(2, Math.floor(connections / 8));

/** What a whole file may take, in times for an answer. */
const FILE_TIMES = 4;

/** Before the second and third try. A restart of v4 takes longer; these bridge a lost connection. */
const PAUSES_MS = [50, 250];

/** Faults after which another try is no use. */
const FINAL = new Set(["too_large", "timed_out", "open", "overloaded"]);

/** What ends a call from outside: the time limit, and the client's going away. */
interface Limits {
  /** Why the call has been ended; undefined while it hasn't. */
  readonly over: () => UpstreamError | undefined;
  /** Calls back when it is, once; instead of the listener before. */
  onOver(listener: (fault: UpstreamError) => void): void;
  /** Must be called when the call has ended by itself. */
  release(): void;
}

function limitsOf(ms: number, client: AbortSignal | undefined): Limits {
  let fault: UpstreamError | undefined;
  let listener: (fault: UpstreamError) => void = () => {};
  function end(kind: "gone" | "timed_out", message: string): void {
    if (fault) return;
    fault = new UpstreamError(kind, message);
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

function throwIfOver(limits: Limits): void {
  const fault = limits.over();
  if (fault) throw fault;
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

/**
 * Makes the client of one v4 service: a pool of kept-alive connections for calls, and a small one for files, which
 * clients can make last.
 */
export function createUpstream(options: UpstreamOptions): UpstreamClient {
  const { origin, timeoutMs, connections, answerLimit = ANSWER_LIMIT } = options;
  const base = origin.pathname.replace(/\/$/, "");
  const makePool = (most: number): Pool =>
    new Pool(origin.origin, {
      connections: most,
      connect: { timeout: Math.min(timeoutMs, 10_000) },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      maxResponseSize: answerLimit,
    });
  let pool = makePool(connections);
  const forFiles = fileConnections(connections);
  let filePool = makePool(forFiles);
  const shares = createConnectionShares({
    size: connections,
    perToken: Math.ceil(connections / 2),
    perAddress: Math.ceil((connections * 3) / 4),
    sharesQueue: true,
    patienceMs: timeoutMs,
  });
  const fileShares = createConnectionShares({
    size: forFiles,
    perToken: Math.ceil(forFiles / 4),
    perAddress: Math.ceil(forFiles / 2),
    patienceMs: timeoutMs,
  });
  const breaker = createCircuitBreaker(options.breaker);
  const left = (): UpstreamError => new UpstreamError("open", "v4 fails, and is left alone for a moment");

  function enter(): void {
    if (!breaker.allow()) throw left();
  }
  const isKnown = (client: ShareClient | undefined): boolean => client === undefined || client.known;
  const answered = (status: number, client: ShareClient | undefined): void =>
    breaker.record(outcomeOfStatus(status, isKnown(client)));
  function failed(error: unknown, client: ShareClient | undefined): void {
    breaker.record(outcomeOfError(error, isKnown(client)));
    if (!isUnsendable(error)) return;
    // undici's pool takes a refusal to send for a connection that is full, for good: each costs it one.
    const spoilt = [pool, filePool];
    pool = makePool(connections);
    filePool = makePool(forFiles);
    for (const each of spoilt) void each.close();
  }

  /** Waits for a connection, and not beyond the call's limits. A breaker that is open lets nobody wait. */
  function turnFor(client: ShareClient | undefined, limits: Limits): Promise<void> {
    return new Promise((resolve, reject) => {
      if (breaker.state() === "open") throw left();
      const leaveQueue = shares.wait(client, resolve);
      limits.onOver((fault) => {
        leaveQueue();
        reject(fault.kind === "timed_out" ? shares.unavailable(timeoutMs) : fault);
      });
    });
  }

  /**
   * Why a call ends that is over. One that had to wait behind others for a connection is v4's failure only where v4
   * has had half of the time.
   */
  function endOf(fault: UpstreamError, answer: ResponseCollector, waited: boolean): UpstreamError {
    if (fault.kind !== "timed_out" || !waited || answer.connectedMs() >= timeoutMs / 2) return fault;
    return new UpstreamError("overloaded", `all connections were in use, for most of ${timeoutMs} ms`);
  }

  /** Sends a call over the connection that has been taken for it, and gives that back when undici is done with it. */
  function exchange(call: HttpRequest, limits: Limits, waited: boolean): Promise<RawResponse> {
    const { method, path, headers, body, client } = call;
    return new Promise((resolve, reject) => {
      let isOver = false;
      const answer = new ResponseCollector(resolve, reject, () => {
        if (!isOver) shares.giveBack(client);
        isOver = true;
      });
      limits.onOver((fault) => {
        if (!isOver) answer.breakOff(endOf(fault, answer, waited));
      });
      pool.dispatch({ path: base + path, method, headers, body: body ?? null }, answer);
    });
  }

  async function attempt(call: HttpRequest, limits: Limits): Promise<RawResponse> {
    const { client } = call;
    throwIfOver(limits);
    const waits = !shares.tryTake(client);
    if (waits) await turnFor(client, limits);
    try {
      throwIfOver(limits);
      enter();
    } catch (error) {
      shares.giveBack(client);
      throw error;
    }
    try {
      const answer = await exchange(call, limits, waits);
      answered(answer.status, client);
      return answer;
    } catch (error) {
      failed(error, client);
      throw error;
    }
  }

  async function once(call: HttpRequest, limits: Limits): Promise<Omit<HttpResponse, "ms">> {
    const { status, headers, body } = await attempt(call, limits);
    const coding = headers["content-encoding"];
    const data = coding === undefined ? body : await decodeContent(body, String(coding), answerLimit);
    const text = data.toString("utf8");
    // What is no UTF-8 became U+FFFD in the text, and must be that in what is made of the bytes.
    return { status, headers, text, bytes: isUtf8(data) ? data : Buffer.from(text) };
  }

  async function tries(call: HttpRequest, limits: Limits): Promise<Omit<HttpResponse, "ms">> {
    for (const pause of call.method === "GET" ? PAUSES_MS : []) {
      const answer = await once(call, limits).catch(toUpstreamError);
      const over = limits.over();
      if (over) throw answer instanceof UpstreamError ? answer : over;
      if (!(answer instanceof UpstreamError) && !OUTAGE_STATUSES.has(answer.status)) return answer;
      if (answer instanceof UpstreamError && FINAL.has(answer.kind)) throw answer;
      await pauseFor(pause, limits);
    }
    return once(call, limits);
  }

  /** Ends a file that takes too long, and one whose client went away. */
  function fileLimits(signal: AbortSignal): { readonly signal: AbortSignal; readonly release: () => void } {
    const controller = new AbortController();
    const end = (kind: "gone" | "slow_client", message: string): void =>
      controller.abort(new UpstreamError(kind, message));
    const gone = (): void => end("gone", "the client went away");
    const ms = FILE_TIMES * timeoutMs;
    const timer = setTimeout(() => end("slow_client", `the file was not over in ${ms} ms`), ms);
    if (signal.aborted) gone();
    signal.addEventListener("abort", gone, { once: true });
    return {
      signal: controller.signal,
      release() {
        clearTimeout(timer);
        signal.removeEventListener("abort", gone);
      },
    };
  }

  /** Whether v4 broke a call off. While the client still sends, it may be its doing: it could stop half-way. */
  const isV4s = (error: unknown, body: StreamRequest["body"]): boolean =>
    toUpstreamError(error).kind !== "cut_off" || body === undefined || body.readableEnded;

  async function streamOne(
    { method, path, headers, body, client }: StreamRequest,
    limits: ReturnType<typeof fileLimits>,
    over: () => void,
  ): Promise<StreamResponse> {
    enter();
    const { signal } = limits;
    try {
      const sent = { path: base + path, method: method as "GET", headers, body: body ?? null, signal };
      const answer = await filePool.request(sent);
      answered(answer.statusCode, client);
      answer.body.once("close", over);
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    } catch (error) {
      const fault: unknown = signal.aborted ? signal.reason : error;
      // A whole file that v4 does not answer is v4's.
      const late =
        toUpstreamError(fault).kind === "slow_client" && (body === undefined || body.readableEnded);
      const known = late ? new UpstreamError("timed_out", toUpstreamError(fault).message) : fault;
      failed(isV4s(known, body) ? known : undefined, client);
      throw known;
    }
  }

  return {
    async call(call, client) {
      const started = performance.now();
      const limits = limitsOf(timeoutMs, client);
      try {
        const { status, headers, text, bytes } = await tries(call, limits);
        return { status, headers, text, bytes, ms: performance.now() - started };
      } catch (error) {
        throw error instanceof UpstreamError ? error : (limits.over() ?? toUpstreamError(error));
      } finally {
        limits.release();
      }
    },
    async stream(call, client) {
      const taken = fileShares.take(call.client, client);
      const release = taken instanceof Promise ? await taken : taken;
      const limits = fileLimits(client);
      function over(): void {
        limits.release();
        release();
      }
      try {
        return await streamOne(call, limits, over);
      } catch (error) {
        over();
        throw error;
      }
    },
    breaker,
    shortages: () => [
      ...(shares.exhausted() ? ["all connections to v4 are in use"] : []),
      ...(fileShares.exhausted() ? ["all connections to v4 for files are in use"] : []),
    ],
    close: async () => void (await Promise.all([pool.close(), filePool.close()])),
  };
}
