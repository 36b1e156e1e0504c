import { withTimeout } from "../../storage/with-timeout.ts";

/** What one process does when another asks for it: by name, with plain data. */
export type RpcApi = { readonly [duty: string]: (...args: never[]) => unknown };

/** An end of the channel between two processes: `process` in a worker, a `Worker` in the primary. */
export interface RpcChannel {
  send?(message: object, handle: undefined, options: undefined, done: (error: Error | null) => void): unknown;
  on(event: "message", hear: (message: unknown) => void): unknown;
}

/** Asks the process at the other end. */
export interface RpcPeer<Theirs> {
  /** @throws {Error} what went wrong there, or that no answer came in time. */
  call<Duty extends keyof Theirs & string>(
    duty: Duty,
    ...args: Theirs[Duty] extends (...args: infer A) => unknown ? A : never
  ): Promise<Theirs[Duty] extends (...args: never[]) => infer R ? Awaited<R> : never>;
  /** The same with more patience, for a start: the other process may be busy, and nobody waits for an answer. */
  askPatiently: RpcPeer<Theirs>["call"];
}

/** Longer no answer is waited for: the other process has died, or is not itself. */
const ANSWER_MS = 1000;
const PATIENT_ANSWER_MS = 60_000;

interface Question {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}
interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

const isObject = (message: unknown): message is object => typeof message === "object" && message !== null;
const isQuestion = (message: object): message is Question => "id" in message && "method" in message;
const isAnswer = (message: object): message is Answer => "id" in message && !("method" in message);

/** Talks over a wire both ways: asks, and does its own duties. As many questions are kept as have been asked lately. */
export function createRpc<Theirs>(wire: RpcChannel, duties: RpcApi): RpcPeer<Theirs> {
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  let last = 0;

  // A process that is gone takes no message; who waits for its answer hears of it in time.
  const send = (message: Question | Answer): unknown => wire.send?.(message, undefined, undefined, () => {});

  async function answer({ id: ask, method: duty, args }: Question): Promise<void> {
    try {
      const work = duties[duty] as ((...args: readonly unknown[]) => unknown) | undefined;
      send({ id: ask, result: await work?.(...args) });
    } catch (error) {
      send({ id: ask, error: (error as Error).message });
    }
  }

  wire.on("message", (message) => {
    if (!isObject(message)) return;
    if (isQuestion(message)) void answer(message);
    if (!isAnswer(message)) return;
    const asked = waiting.get(message.id);
    if (message.error === undefined) asked?.resolve(message.result);
    else asked?.reject(new Error(message.error));
  });

  const asking =
    (mostMs: number): RpcPeer<Theirs>["call"] =>
    async (duty, ...args) => {
      const id = (last += 1);
      const { promise, ...end } = Promise.withResolvers<unknown>();
      waiting.set(id, end);
      send({ id, method: duty, args });
      try {
        return (await withTimeout(promise, mostMs)) as never;
      } finally {
        waiting.delete(id);
      }
    };

  return { call: asking(ANSWER_MS), askPatiently: asking(PATIENT_ANSWER_MS) };
}
