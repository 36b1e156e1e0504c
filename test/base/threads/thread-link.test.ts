import { Worker } from "node:worker_threads";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { ThreadLink } from "../../../src/base/threads/thread-link.ts";
import { endsWithTest } from "../../support/ends-with-test.ts";

/** A thread that returns each job. */
const ECHO = `
  const { parentPort } = require("node:worker_threads");
  parentPort.on("message", ({ call, job }) => parentPort.postMessage({ call, value: job }));
`;

test("a job that can't be copied fails at once, and the thread works on", async () => {
  let losses = 0;
  const link = new ThreadLink<unknown>(new Worker(ECHO, { eval: true }), () => void (losses += 1));
  endsWithTest(() => link.end());
  await expect(link.call(() => {}, { timeoutMs: 20 })).rejects.toThrow("could not be cloned");
  // Longer than a job may take: a thread with a job would be ended.
  await wait(60);
  expect(await link.call("next", { timeoutMs: 10_000 })).toBe("next");
  expect(losses).toBe(0);
});
