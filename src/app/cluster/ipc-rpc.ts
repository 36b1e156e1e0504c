import { errorText } from "../../config/error-text.ts";
import { isObject } from "../../dialect/json/parse.ts";
import { withTimeout } from "../../storage/with-timeout.ts";

/** Functions that another process may call by name, with plain data. */
export type RpcApi = { readonly [method: string]: (...args: never[]) => unknown };

/** One end of the channel between two processes: `process` in a worker, a `Worker` in the primary. */
export interface RpcChannel {
  send?(message: object, handle: undefined, options: undefined, done: (error: Error | null) => void): unknown;
  on(event: "message", listener: (message: unknown) => void): unknown;
}

/** Calls functions of the process at the other end. */
export interface RpcPeer<Api> {
  /** @throws {Error} If the function throws, or if no response comes within a second. */
  call<Method extends keyof Api & string>(
    method: Method,
    ...args: Api[Method] extends (...args: infer A) => unknown ? A : never
  ): Promise<Api[Method] extends (...args: never[]) => infer R ? Awaited<R> : never>;
  /** The same with a timeout of a minute, for a start: the other process may be busy, and no client waits. */
  callDuringStart: RpcPeer<Api>["call"];
}

const TIMEOUT_MS = 1000;
const START_TIMEOUT_MS = 60_000;

interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}
interface RpcResponse {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

const isRequest = (message: object): message is RpcRequest => "id" in message && "method" in message;
const isResponse = (message: object): message is RpcResponse => "id" in message && !("method" in message);

/**
 * Calls functions in both directions over a channel.
 *
 * @param api What the other process may call here.
 */
export function createRpc<Api>(channel: RpcChannel, api: RpcApi): RpcPeer<Api> {
  const pending = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  let lastId = 0;

  // A process that has exited gets no message: its callers run into their timeout.
  const send = (message: RpcRequest | RpcResponse): unknown =>
    channel.send?.(message, undefined, undefined, () => {});

  async function respond({ id, method, args }: RpcRequest): Promise<void> {
    try {
      const run = api[method] as ((...args: readonly unknown[]) => unknown) | undefined;
      send({ id, result: await run?.(...args) });
    } catch (error) {
      send({ id, error: errorText(error) });
    }
  }

  channel.on("message", (message) => {
    if (!isObject(message)) return;
    if (isRequest(message)) void respond(message);
    if (!isResponse(message)) return;
    const call = pending.get(message.id);
    if (message.error === undefined) call?.resolve(message.result);
    else call?.reject(new Error(message.error));
  });

  const callWithin =
    (timeoutMs: number): RpcPeer<Api>["call"] =>
    async (method, ...args) => {
      const id = (lastId += 1);
      const { promise, ...call } = Promise.withResolvers<unknown>();
      pending.set(id, call);
      send({ id, method, args });
      try {
        return (await withTimeout(promise, timeoutMs)) as never;
      } finally {
        pending.delete(id);
      }
    };

  return { call: callWithin(TIMEOUT_MS), callDuringStart: callWithin(START_TIMEOUT_MS) };
}
