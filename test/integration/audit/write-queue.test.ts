import { describe, expect, test } from "vitest";
import type { StoredRow } from "../../../src/audit/stored-row.ts";
import { createWriteQueue } from "../../../src/audit/write-queue.ts";
import { sampleId, sampleRecord } from "./sample-record.ts";

const bounds = { groupMs: 1, maxRows: 100, maxBytes: 1_000_000 };

/** A store that fails this many times before it works. */
function brittleStore(failures: number) {
  const groups: string[][] = [];
  async function commit(rows: readonly StoredRow[]): Promise<number> {
    if ((failures -= 1) >= 0) throw new Error("disk full");
    groups.push(rows.map(({ id }) => id));
    return 10 * rows.length;
  }
  return { commit, groups };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((done) => setTimeout(done, 5));
}

describe("the write queue of an audit store", () => {
  test("commits records that arrive together in one group", async () => {
    const { commit, groups } = brittleStore(0);
    const queue = createWriteQueue({ ...bounds, commit, durability: "relaxed" });
    for (let n = 0; n < 3; n += 1) void queue.push(sampleRecord(sampleId(n)));
    await until(() => queue.stats().written === 3);
    expect(groups).toEqual([[sampleId(0), sampleId(1), sampleId(2)]]);
    await queue.close();
  });

  test("commits large records in several groups, in order", async () => {
    const { commit, groups } = brittleStore(0);
    const queue = createWriteQueue({ ...bounds, maxBytes: 64_000_000, commit, durability: "relaxed" });
    const ids = Array.from({ length: 9 }, (_, n) => sampleId(n));
    for (const id of ids) void queue.push({ ...sampleRecord(id), warnings: ["x".repeat(1_500_000)] });
    await until(() => queue.stats().written === ids.length);
    expect(groups.map(({ length }) => length)).toEqual([3, 3, 3]);
    expect(groups.flat()).toEqual(ids);
    await queue.close();
  });

  test("retries until the store works and loses nothing (relaxed)", async () => {
    const { commit, groups } = brittleStore(3);
    const received: unknown[] = [];
    const onFault = (error: unknown): void => void received.push(error);
    const queue = createWriteQueue({ ...bounds, commit, durability: "relaxed", onFault });
    void queue.push(sampleRecord("a"));
    await until(() => queue.stats().errors > 0);
    expect(queue.fault()).toBe("disk full");
    await until(() => queue.fault() === undefined);
    expect(groups.flat()).toEqual(["a"]);
    expect(queue.stats()).toMatchObject({ queued: 0, dropped: 0, written: 1, errors: 3 });
    expect(received).toEqual([new Error("disk full")]);
    await queue.close();
  });

  test("fails at once, rejects the caller and detects recovery (strict)", async () => {
    const { commit } = brittleStore(2);
    const queue = createWriteQueue({ ...bounds, commit, durability: "strict" });
    await expect(queue.push(sampleRecord("a"))).rejects.toMatchObject({
      name: "AuditUnavailableError",
      cause: expect.objectContaining({ message: "disk full" }),
    });
    await until(() => queue.fault() === undefined);
    await queue.push(sampleRecord("b"));
    expect(queue.stats()).toMatchObject({ queued: 0, dropped: 1, written: 1, errors: 2 });
    await queue.close();
  });

  test.each([
    ["rows", { maxRows: 5 }],
    ["bytes", { maxBytes: 5 * (JSON.stringify(sampleRecord(sampleId(0))).length + 1) }],
  ])("stays within its limit of %s while the store fails", async (_, bound) => {
    const { commit } = brittleStore(Infinity);
    const queue = createWriteQueue({ ...bounds, ...bound, commit, durability: "relaxed" });
    for (let n = 0; n < 20; n += 1) void queue.push(sampleRecord(sampleId(n)));
    await until(() => queue.stats().errors > 1);
    expect(queue.stats()).toMatchObject({ queued: 5, dropped: 15 });
    await queue.close();
    expect(queue.stats()).toMatchObject({ queued: 0, dropped: 20 });
  });

  test("keeps records of known clients while callers without an accepted token fill their quarter", async () => {
    const { commit } = brittleStore(Infinity);
    const queue = createWriteQueue({ ...bounds, maxRows: 20, commit, durability: "relaxed" });
    for (let n = 0; n < 10; n += 1) void queue.push(sampleRecord(sampleId(n), { accepted: true }));
    for (let n = 10; n < 110; n += 1) void queue.push(sampleRecord(sampleId(n), { accepted: false }));
    await until(() => queue.stats().errors > 1);
    expect(queue.stats()).toMatchObject({ queued: 15, dropped: 95 });
    await queue.close();
  });
});
