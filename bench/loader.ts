import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { LoadJob, LoadResult } from "./load-generator.ts";

export interface Loader {
  run(job: LoadJob): Promise<LoadResult>;
  stop(): void;
}

/** Starts the load generator; it does one job at a time. */
export function startLoader(): Loader {
  const child = fork(join(import.meta.dirname, "load-generator.ts"));
  const lost = once(child, "exit").then(() => {
    throw new Error("the load generator ended");
  });
  lost.catch(() => {});
  return {
    async run(job) {
      const reply = once(child, "message");
      child.send(job);
      const [result] = await Promise.race([reply, lost]);
      return result as LoadResult;
    },
    stop: () => child.disconnect(),
  };
}
