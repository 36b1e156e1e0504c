import { afterEach, describe, expect, test } from "@jest/globals";
import { Worker } from "node:worker_threads";
import {
  startWithFirstJob,
  superviseWorker,
} from "../../../src/audit/store/sqlite/thread/supervised-worker.ts";
import type { SupervisedWorker } from "../../../src/audit/store/sqlite/thread/supervised-worker.ts";

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

function openWorker(script = SCRIPT): Promise<SupervisedWorker<Job>> {
  const spawn = () => new Worker(script, { eval: true });
  return superviseWorker<Job>({ spawn, open: "echo", timeoutMs: 1000, openTimeoutMs: 5000, restartMs: 1 });
}

describe("a supervised worker", () => {
  let supervised: SupervisedWorker<Job> | undefined;
  afterEach(() => supervised?.close("echo"));

  test("returns results, and an error fails only its call", async () => {
    supervised = await openWorker();
    const responses = await Promise.allSettled([supervised.call("refuse"), supervised.call("echo")]);
    expect(responses).toMatchObject([{ reason: { name: "AuditUnavailableError" } }, { value: "echo" }]);
    expect(supervised.lostWorkers()).toBe(0);
  });

  test.each<[Job, string]>([
    ["throw", "thrown in the thread"],
    ["exit", "has ended"],
    ["hang", "did not respond within 1000 ms"],
  ])("rejects all open calls and is replaced if it ends by %j", async (job, reason) => {
    supervised = await openWorker();
    const calls = [supervised.call(job), supervised.call("echo")];
    for (const settled of await Promise.allSettled(calls)) {
      expect(settled).toMatchObject({ reason: { message: expect.stringContaining(reason) } });
    }
    expect(supervised.ready()).toBe(false);
    await expect(supervised.call("echo")).rejects.toThrow("not running");
    while (!supervised.ready()) await new Promise((done) => setTimeout(done, 5));
    expect(await supervised.call("echo")).toBe("echo");
    expect(supervised.lostWorkers()).toBe(1);
  });

  test("rejects if it does not start", async () => {
    await expect(openWorker(`throw new Error("no such thing")`)).rejects.toThrow("no such thing");
  });
});

describe("a worker that starts with its first job", () => {
  test("is started once, however many jobs there are", async () => {
    let starts = 0;
    const worker = startWithFirstJob<Job>(async () => {
      starts += 1;
      return openWorker();
    });
    expect([starts, worker.ready(), worker.lostWorkers()]).toEqual([0, true, 0]);
    expect(await Promise.all([worker.call("echo"), worker.call("echo")])).toEqual(["echo", "echo"]);
    expect(starts).toBe(1);
    await worker.close("echo");
    await expect(worker.call("echo")).rejects.toThrow("not running");
  });

  test("fails the job if it does not start, and starts with the next one", async () => {
    const scripts = [`throw new Error("no such thing")`, SCRIPT];
    const worker = startWithFirstJob<Job>(() => openWorker(scripts.shift()));
    await expect(worker.call("echo")).rejects.toThrow("no such thing");
    expect(await worker.call("echo")).toBe("echo");
    await worker.close("echo");
  });

  test("is not started to be closed", async () => {
    const worker = startWithFirstJob<Job>(() => Promise.reject(new Error("started")));
    await worker.close("echo");
    await expect(worker.call("echo")).rejects.toThrow("not running");
  });
});
