/** A Redis of the test's own, which it may stop, hang and start again, and which ends with the test. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { endsWithTest } from "./ends-with-test.ts";
import { freePort, isListening } from "./free-port.ts";

export interface RedisServer {
  readonly url: string;
  start(): Promise<void>;
  /** Ends it at once, with all that it holds. */
  stop(): Promise<void>;
  /** It takes connections and says nothing, until `resume`. */
  hang(): void;
  resume(): void;
}

/** Not started yet. `flags`: further ones of `redis-server`, such as `--requirepass`. */
export async function createRedisServer(...flags: readonly string[]): Promise<RedisServer> {
  const port = await freePort();
  let child: ChildProcess | undefined;
  async function stop(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGCONT");
    child.kill("SIGKILL");
    await ended;
  }
  endsWithTest(stop);
  return {
    url: `redis://127.0.0.1:${port}`,
    async start() {
      const args = [
        "--port",
        String(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no",
        ...flags,
      ];
      child = spawn("redis-server", args, { stdio: "ignore", cwd: "/" });
      while (!(await isListening({ port, host: "127.0.0.1" }))) await wait(20);
    },
    stop,
    hang: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
  };
}

/** The settings of several processes that share this Redis. */
export const sharedBy = ({ url }: RedisServer): Readonly<Record<string, string>> => ({
  REDIS_URL: url,
  GATEWAY_SECRET: "s".repeat(32),
});
