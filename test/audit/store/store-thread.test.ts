import { afterEach, describe, expect, test } from "@jest/globals";
import { Worker } from "node:worker_threads";
import { StoreThread } from "../../../src/audit/store/sqlite/thread/store-thread.ts";

type Job = "echo" | "throw" | "exit" | "hang" | "refuse";

const SCRIPT = `
  const { parentPort } = require("node:worker_threads");
  parentPort.on("message", ({ call, job }) => {
    if (job === "throw") throw new Error("thrown in the thread");
    if (job === "exit") process.exit(3);
    if (job === "hang") for (;;);
    if (job === "refuse") return parentPort.postMessage({ call, error: "refused" });
    parentPort.postMessage({ call, value: job });
  });
`;

const createThread = (spawn = () => new Worker(SCRIPT, { eval: true })) =>
  new StoreThread<Job>({ spawn, open: "echo", timeoutMs: 1000, openTimeoutMs: 5000, restartMs: 20 });
const failing = (): Worker => new Worker(`throw new Error("no such thing")`, { eval: true });

describe("a thread of a store", () => {
  let thread: StoreThread<Job> | undefined;
  afterEach(() => thread?.close("echo"));

  test("returns results, and an error fails only its call", async () => {
    thread = createThread();
    const responses = await Promise.allSettled([thread.call("refuse"), thread.call("echo")]);
    expect(responses).toMatchObject([{ reason: { name: "AuditUnavailableError" } }, { value: "echo" }]);
    expect(thread.lostWorkers).toBe(0);
  });

  test.each<[Job, string]>([
    ["throw", "thrown in the thread"],
    ["exit", "has ended"],
    ["hang", "did not respond within 1000 ms"],
  ])("rejects all open calls and is replaced if it ends by %j", async (job, reason) => {
    thread = createThread();
    const calls = [thread.call(job), thread.call("echo")];
    for (const settled of await Promise.allSettled(calls)) {
      expect(settled).toMatchObject({ reason: { message: expect.stringContaining(reason) } });
    }
    expect(thread.isReady).toBe(false);
    while (!thread.isReady) await new Promise((done) => setTimeout(done, 5));
    expect(await thread.call("echo")).toBe("echo");
    expect(thread.lostWorkers).toBe(1);
  });

  test("is not started by calls while it is replaced, and after each failed start the pause is longer", async () => {
    const starts: number[] = [];
    thread = createThread(() => {
      starts.push(performance.now());
      return [1, 5].includes(starts.length) ? new Worker(SCRIPT, { eval: true }) : failing();
    });
    await expect(thread.call("exit")).rejects.toThrow("has ended");
    await expect(thread.call("echo")).rejects.toThrow("not running");
    while (!thread.isReady) {
      await thread.call("echo").catch(() => {});
      await new Promise((done) => setTimeout(done, 2));
    }
    expect([starts.length, thread.lostWorkers]).toEqual([5, 4]);
    const pauses = starts.slice(1).map((time, index) => time - (starts[index] ?? 0));
    for (const [index, pause] of pauses.entries()) expect(pause).toBeGreaterThanOrEqual(20 * 2 ** index - 1);
  });

  test("is started once, however many jobs there are", async () => {
    let starts = 0;
    thread = createThread(() => {
      starts += 1;
      return new Worker(SCRIPT, { eval: true });
    });
    expect([starts, thread.isReady, thread.lostWorkers]).toEqual([0, true, 0]);
    expect(await Promise.all([thread.call("echo"), thread.call("echo")])).toEqual(["echo", "echo"]);
    expect(starts).toBe(1);
    await thread.close("echo");
    await expect(thread.call("echo")).rejects.toThrow("not running");
  });

  test("fails the job if it does not start, and starts with the next one", async () => {
    const workers = [failing, () => new Worker(SCRIPT, { eval: true })];
    thread = createThread(() => (workers.shift() ?? failing)());
    await expect(thread.start()).rejects.toThrow("no such thing");
    expect(await thread.call("echo")).toBe("echo");
  });

  test("is not started to be closed", async () => {
    const closed = createThread(failing);
    await closed.close("echo");
    await expect(closed.call("echo")).rejects.toThrow("not running");
  });
});
