/** No hostile expression of a pack ends the process, exhausts its memory or throws an unexpected error. */
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "@jest/globals";
import { EXPRESSIONS } from "./hostile-expressions.ts";

/** Megabytes of a thread's heap. A gateway has several times as much. */
const HEAP = { maxOldGenerationSizeMb: 128 };

interface Progress {
  readonly started?: string;
  readonly end?: string;
}

/** Evaluates sources in a thread with little memory. @returns those that ended in another way than they may */
async function findHarmful(engine: string, sources: readonly string[]): Promise<string[]> {
  const script = join(import.meta.dirname, "evaluate-expressions.ts");
  const thread = new Worker(script, { workerData: { sources, engine }, resourceLimits: HEAP });
  let last = "";
  const harmful: string[] = [];
  const report = (end: string): void => void harmful.push(`${last.slice(0, 100)}: ${end}`);
  thread.on("message", ({ started, end }: Progress) => {
    if (started !== undefined) last = started;
    else if (end !== "value" && end !== "own error") report(end ?? "");
  });
  thread.on("error", (error) => report(String(error)));
  await once(thread, "exit");
  return harmful;
}

describe.each(["compiled", "interpreted"])("expressions that are %s", (engine) => {
  test.each(Object.entries(EXPRESSIONS))(
    "%s end with a value or an error of their own",
    async (_what, sources) => {
      expect(await findHarmful(engine, sources)).toEqual([]);
    },
    180_000,
  );
});
