import * as fc from "fast-check";
import { describe, expect, jest, test } from "@jest/globals";
import { JsonText } from "../../../src/audit/record/json-text.ts";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { RecentBytes } from "../../../src/audit/store/sender-bytes.ts";
import { createBatch, recordText } from "../../../src/audit/store/segment.ts";
import type { StoredRow } from "../../../src/audit/store/record-row.ts";
import { WriteQueue } from "../../../src/audit/store/write-queue.ts";
import { collectGarbage } from "../../support/garbage.ts";
import { waitFor } from "../../support/wait-for.ts";
import { sampleId, sampleRecord } from "../record/sample-record.ts";

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

describe("the write queue of an audit store", () => {
  test("commits records that arrive together in one group", async () => {
    const { commit, groups } = brittleStore(0);
    const queue = new WriteQueue({ ...bounds, commit, durability: "relaxed" });
    for (let n = 0; n < 3; n += 1) void queue.push(sampleRecord(sampleId(n)));
    await waitFor(() => queue.stats().written === 3);
    expect(groups).toEqual([[sampleId(0), sampleId(1), sampleId(2)]]);
    await queue.close();
  });

  test("commits large records in several groups, in order", async () => {
    const { commit, groups } = brittleStore(0);
    const queue = new WriteQueue({ ...bounds, maxBytes: 64_000_000, commit, durability: "relaxed" });
    const ids = Array.from({ length: 9 }, (_, n) => sampleId(n));
    for (const id of ids) void queue.push({ ...sampleRecord(id), warnings: ["x".repeat(1_500_000)] });
    await waitFor(() => queue.stats().written === ids.length);
    expect(groups.map(({ length }) => length)).toEqual([3, 3, 3]);
    expect(groups.flat()).toEqual(ids);
    await queue.close();
  });

  test.each([
    ["bytes", 4, "x".repeat(1_500_000)],
    ["rows", 1000, ""],
  ])("commits a group at once when it has the maximum of %s", async (_, count, warning) => {
    const { commit, groups } = brittleStore(0);
    const limits = { groupMs: 60_000, maxRows: 10_000, maxBytes: 64_000_000 };
    const queue = new WriteQueue({ ...limits, commit, durability: "relaxed" });
    for (let n = 0; n < count; n += 1) void queue.push({ ...sampleRecord(sampleId(n)), warnings: [warning] });
    await waitFor(() => groups.length === 1);
    await queue.close();
    expect(groups.flat()).toHaveLength(count);
  });

  test("further records do not put off the commit of a full group", async () => {
    const { commit, groups } = brittleStore(0);
    const limits = { groupMs: 60_000, maxRows: 10_000, maxBytes: 64_000_000 };
    const queue = new WriteQueue({ ...limits, commit, durability: "relaxed" });
    for (let n = 0; n < 1000; n += 1) void queue.push(sampleRecord(sampleId(n)));
    const timers = jest.spyOn(globalThis, "setTimeout");
    for (let n = 1000; n < 2000; n += 1) void queue.push(sampleRecord(sampleId(n)));
    // Each new timer would begin anew, and be late in every turn of a busy event loop.
    expect(timers).not.toHaveBeenCalled();
    timers.mockRestore();
    await waitFor(() => groups.length === 2);
    await queue.close();
  });

  test("retries until the store works and loses nothing (relaxed)", async () => {
    const { commit, groups } = brittleStore(3);
    const received: unknown[] = [];
    const onFault = (error: unknown): void => void received.push(error);
    const queue = new WriteQueue({ ...bounds, commit, durability: "relaxed", onFault });
    void queue.push(sampleRecord("a"));
    await waitFor(() => queue.stats().errors > 0);
    expect(queue.fault()).toBe("disk full");
    await waitFor(() => queue.fault() === undefined);
    expect(groups.flat()).toEqual(["a"]);
    expect(queue.stats()).toMatchObject({ queued: 0, dropped: 0, written: 1, errors: 3 });
    expect(received).toEqual([new Error("disk full")]);
    await queue.close();
  });

  test("reports each new reason of a failure once, and the recovery", async () => {
    const reasons = ["no response", "no response", "disk full"];
    const reports: unknown[] = [];
    const commit = async (): Promise<number> => {
      const reason = reasons.shift();
      if (reason !== undefined) throw new Error(reason);
      return 1;
    };
    const onFault = (error: unknown): void => void reports.push((error as Error).message);
    const onRecovery = (): void => void reports.push("recovered");
    const queue = new WriteQueue({ ...bounds, commit, durability: "relaxed", onFault, onRecovery });
    void queue.push(sampleRecord("a"));
    await waitFor(() => queue.stats().written === 1);
    void queue.push(sampleRecord("b"));
    await waitFor(() => queue.stats().written === 2);
    expect(reports).toEqual(["no response", "disk full", "recovered"]);
    await queue.close();
  });

  test("fails at once, rejects the caller and detects recovery (strict)", async () => {
    const { commit } = brittleStore(2);
    const queue = new WriteQueue({ ...bounds, commit, durability: "strict" });
    await expect(queue.push(sampleRecord("a"))).rejects.toMatchObject({
      name: "AuditUnavailableError",
      cause: expect.objectContaining({ message: "disk full" }),
    });
    await waitFor(() => queue.fault() === undefined);
    await queue.push(sampleRecord("b"));
    expect(queue.stats()).toMatchObject({ queued: 0, dropped: 1, written: 1, errors: 2 });
    await queue.close();
  });

  test.each([
    ["rows", { maxRows: 5 }],
    ["bytes", { maxBytes: 5 * (JSON.stringify(sampleRecord(sampleId(0))).length + 1) }],
  ])("stays within its limit of %s while the store fails", async (_, bound) => {
    const { commit } = brittleStore(Infinity);
    const queue = new WriteQueue({ ...bounds, ...bound, commit, durability: "relaxed" });
    for (let n = 0; n < 20; n += 1) void queue.push(sampleRecord(sampleId(n)));
    await waitFor(() => queue.stats().errors > 1);
    expect(queue.stats()).toMatchObject({ queued: 5, dropped: 15 });
    await queue.close();
    expect(queue.stats()).toMatchObject({ queued: 0, dropped: 20 });
  });

  test.each([
    ["many", { maxRows: 50 }, ""],
    ["large", { maxBytes: 100_000 }, "x".repeat(9000)],
  ])("keeps the records of other clients while one client adds %s records", async (_, bound, text) => {
    const { commit, groups } = brittleStore(0);
    const queue = new WriteQueue({ ...bounds, ...bound, groupMs: 20, commit, durability: "relaxed" });
    const add = (id: string, client: string, warning = "") =>
      void queue.push({ ...sampleRecord(id, { client, accepted: true }), warnings: [warning] });
    add("old", "quiet");
    for (let n = 0; n < 500; n += 1) {
      add(`flood-${n}`, "flood", text);
      if (n % 100 === 0) add(`late-${n}`, `late-${n}`);
    }
    add("new", "quiet");
    expect(queue.stats().dropped).toBeGreaterThan(400);
    await queue.close();
    const committed = groups.flat();
    expect(committed).toEqual(expect.arrayContaining(["old", "late-0", "late-400", "new", "flood-499"]));
    expect(committed.filter((id) => id.startsWith("late"))).toHaveLength(5);
    expect(committed).not.toContain("flood-0");
  });

  test("keeps the text of a record whose neighbours in memory are dropped", async () => {
    const texts: unknown[] = [];
    const commit = async (rows: readonly StoredRow[]): Promise<number> => {
      for (const { chunk, start, size } of rows)
        texts.push(JSON.parse(chunk.bytes.toString("utf8", start, start + size)));
      return 0;
    };
    const queue = new WriteQueue({
      ...bounds,
      groupMs: 60_000,
      maxRows: 10,
      commit,
      durability: "relaxed",
    });
    const quiet = sampleRecord("quiet", { client: "quiet", accepted: true });
    void queue.push(quiet);
    for (let n = 0; n < 5000; n += 1)
      void queue.push(sampleRecord(sampleId(n), { client: "flood", accepted: true }));
    await queue.close();
    expect(texts[0]).toEqual(quiet);
    expect(texts).toHaveLength(10);
  });

  test.each([
    ["rows", { maxRows: 20 }, ""],
    ["bytes", { maxBytes: 200_000 }, "x".repeat(9000)],
  ])("callers without an accepted token fill at most a quarter of its %s", async (_, bound, text) => {
    const { commit, groups } = brittleStore(2);
    const queue = new WriteQueue({ ...bounds, ...bound, groupMs: 50, commit, durability: "relaxed" });
    const add = (id: string, accepted: boolean, client: string) =>
      void queue.push({ ...sampleRecord(id, { client, accepted }), warnings: [text] });
    const known = Array.from({ length: 10 }, (_, n) => sampleId(n));
    for (let n = 10; n < 110; n += 1) add(sampleId(n), false, `made-up-${n}`);
    for (const id of known) add(id, true, "known");
    const { queued } = queue.stats();
    expect(queued).toBeGreaterThan(12);
    expect(queued).toBeLessThanOrEqual(15);
    await waitFor(() => queue.stats().written === queued);
    expect(groups.flat().slice(0, 10)).toEqual(known);
    expect(groups.flat().slice(-2)).toEqual([sampleId(108), sampleId(109)]);
    await queue.close();
  });

  test("drops records of callers without an accepted token before all others", async () => {
    const { commit, groups } = brittleStore(2);
    const queue = new WriteQueue({ ...bounds, groupMs: 50, maxRows: 20, commit, durability: "relaxed" });
    for (let n = 0; n < 5; n += 1) void queue.push(sampleRecord(`stranger-${n}`, { accepted: false }));
    const known = Array.from({ length: 20 }, (_, n) => sampleId(n));
    for (const id of known) void queue.push(sampleRecord(id, { client: "known", accepted: true }));
    expect(queue.stats()).toMatchObject({ queued: 20, dropped: 5 });
    await waitFor(() => queue.stats().written === 20);
    expect(groups.flat()).toEqual(known);
    await queue.close();
  });

  test("commits records of callers without an accepted token after those of clients that wait (strict)", async () => {
    const { commit, groups } = brittleStore(0);
    const queue = new WriteQueue({
      ...bounds,
      maxRows: 10_000,
      maxBytes: 64 * MEBI,
      commit,
      durability: "strict",
    });
    const strangers = Array.from({ length: 1500 }, async (_, n) =>
      queue.push(sampleRecord(sampleId(n), { accepted: false })),
    );
    await queue.push(sampleRecord("known", { accepted: true }));
    expect(groups.map(([first]) => first)).toEqual(["known"]);
    await Promise.all(strangers);
    await queue.close();
  });

  test("drops records that wait although the client with the most has them in the commit that runs", async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const queue = new WriteQueue({ ...bounds, maxRows: 20, commit: () => promise, durability: "relaxed" });
    for (let n = 0; n < 15; n += 1) void queue.push(sampleRecord(sampleId(n), { client: "large" }));
    await new Promise((done) => setTimeout(done, 20));
    for (let n = 15; n < 25; n += 1) void queue.push(sampleRecord(sampleId(n), { client: `small-${n}` }));
    expect(queue.stats()).toMatchObject({ queued: 20, dropped: 5 });
    resolve(1);
    await queue.close();
  });
});

const MEBI = 1024 * 1024;

/** A record with two bodies of this size, and its text as it is stored. */
function recordWithBodies(id: string, size: number, { accepted = true, isOnLines = false } = {}) {
  const text = JSON.stringify(`${id}ü`.repeat(Math.ceil(size / id.length)).slice(0, size));
  const body = isOnLines ? `[\n${text},\n\n2]` : text;
  const { alpha, v4, ...rest } = sampleRecord(id, { accepted });
  const withBodies = (response: unknown): AuditRecord => ({
    ...rest,
    alpha: { ...alpha, response },
    v4: v4.map((call) => ({ ...call, response })),
  });
  const stored = JSON.stringify(withBodies("BODY"));
  return {
    record: withBodies(new JsonText(body)),
    stored: stored.replaceAll('"BODY"', () => body.replaceAll("\n", " ")),
  };
}

/** A store that fails where `failures` says so, and otherwise adds the texts of the records to `texts`. */
function textStore(failures: readonly boolean[] = []) {
  const texts = new Map<string, string>();
  const chunks = new Set<Buffer>();
  let commits = 0;
  let spare: ArrayBuffer | undefined;
  async function commit(rows: readonly StoredRow[]): Promise<number> {
    for (const { chunk } of rows) chunks.add(chunk.bytes);
    const { segments, bytes } = createBatch(rows, new RecentBytes(), spare);
    spare = bytes.buffer;
    await new Promise((done) => setTimeout(done, 1));
    if (failures[(commits += 1)]) throw new Error("disk full");
    for (const { start, end, rows: added } of segments)
      for (const row of added) texts.set(row.id, recordText(bytes.subarray(start, end), row));
    return bytes.length;
  }
  return { commit, texts, chunks };
}

/** Bytes of buffers that are still in use. V8 frees the others in a thread of its own, so the figure may be too high at first. */
function bufferBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

describe("the memory of the write queue", () => {
  const pushes = fc.array(
    fc.record({
      size: fc.oneof(fc.nat(100), fc.nat(100_000), fc.nat(200_000), fc.nat(800_000)),
      accepted: fc.boolean(),
      isOnLines: fc.boolean(),
      isLastOfBurst: fc.boolean(),
    }),
    { minLength: 20, maxLength: 60 },
  );

  test("records are stored byte for byte, or dropped and counted", async () => {
    const property = fc.asyncProperty(pushes, fc.array(fc.boolean()), async (given, failures) => {
      const { commit, texts } = textStore(failures);
      const queue = new WriteQueue({ ...bounds, maxBytes: 4 * MEBI, commit, durability: "relaxed" });
      const expected = new Map<string, string>();
      for (const [index, { size, isLastOfBurst, ...form }] of given.entries()) {
        const { record, stored } = recordWithBodies(sampleId(index), size, form);
        expected.set(record.id, stored);
        void queue.push(record);
        if (isLastOfBurst) await new Promise((done) => setTimeout(done, 2));
      }
      await waitFor(() => queue.stats().queued === 0);
      const { written, dropped } = queue.stats();
      expect(written + dropped).toBe(given.length);
      expect(texts.size).toBe(written);
      expect([...texts].filter(([id, text]) => text !== expected.get(id)).map(([id]) => id)).toEqual([]);
      await queue.close();
    });
    await fc.assert(property, { numRuns: 20 });
  });

  test.each(["relaxed", "strict"] as const)("has no record object that waits (%s)", async (durability) => {
    const { promise: committed, resolve } = Promise.withResolvers<number>();
    const queue = new WriteQueue({ ...bounds, commit: () => committed, durability });
    function pushRecord(): readonly WeakRef<object>[] {
      const { record } = recordWithBodies("a", 100_000);
      void queue.push(record);
      return [new WeakRef(record), new WeakRef(record.alpha.response as JsonText)];
    }
    const refs = pushRecord();
    await new Promise((done) => setTimeout(done, 5));
    collectGarbage();
    expect(queue.stats().queued).toBe(1);
    expect(refs.map((ref) => ref.deref())).toEqual([undefined, undefined]);
    resolve(1);
    await queue.close();
  });

  test("is used again by later records", async () => {
    const { commit, texts, chunks } = textStore();
    const queue = new WriteQueue({ ...bounds, maxBytes: 64 * MEBI, commit, durability: "relaxed" });
    for (let n = 0; n < 1000; n += 1) {
      void queue.push(recordWithBodies(sampleId(n), 50_000).record);
      if (n % 50 === 49) await waitFor(() => queue.stats().queued === 0);
    }
    expect(texts.size).toBe(1000);
    expect(chunks.size).toBeLessThan(10);
    await queue.close();
  });

  test("is bounded while commits fail", async () => {
    const { commit } = brittleStore(Infinity);
    const before = bufferBytes();
    const queue = new WriteQueue({ ...bounds, maxBytes: 8 * MEBI, commit, durability: "relaxed" });
    for (let n = 0; n < 2000; n += 1) {
      const { record } = recordWithBodies(sampleId(n), (n * 7919) % 150_000, { accepted: n % 3 > 0 });
      void queue.push(record);
      if (n % 100 === 0) await new Promise((done) => setTimeout(done, 2));
    }
    await waitFor(() => queue.stats().errors > 2);
    expect(queue.stats().dropped).toBeGreaterThan(1000);
    await waitFor(() => bufferBytes() - before < 32 * MEBI);
    await queue.close();
  });

  test("is bounded while records of unaccepted tokens wait behind many others", async () => {
    const before = bufferBytes();
    let pushed = 0;
    let perCommit = 75;
    async function commit(rows: readonly StoredRow[]): Promise<number> {
      for (let n = 0; n < perCommit; n += 1) pushNext();
      await new Promise((done) => setTimeout(done, 1));
      return rows.length;
    }
    const queue = new WriteQueue({
      ...bounds,
      maxRows: 10_000,
      maxBytes: 64 * MEBI,
      commit,
      durability: "relaxed",
    });
    function pushNext(): void {
      pushed += 1;
      const isStranger = pushed % 20 === 0;
      const size = isStranger ? 10 : 27_000;
      void queue.push(recordWithBodies(sampleId(pushed), size, { accepted: !isStranger }).record);
    }
    for (let n = 0; n < 100; n += 1) pushNext();
    await waitFor(() => queue.stats().written > 4000);
    await waitFor(() => bufferBytes() - before < 32 * MEBI);
    expect(queue.stats().errors).toBe(0);
    perCommit = 0;
    await queue.close();
  });
});
