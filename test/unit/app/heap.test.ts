import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { compactHeapOnce } from "../../../src/app/heap.ts";
import { listen } from "../../../src/app/http-server.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

const garbage = (): WeakRef<object> => new WeakRef({});

/** A reference holds its object until the turn in which it was created or read is over. */
async function checkAfter(ms: number): Promise<void> {
  await nextTurn();
  vi.advanceTimersByTime(ms);
  await nextTurn();
}

test("a process that is in use is not stopped; once it is unused, its heap is compacted", async () => {
  let connections = 1;
  const old = garbage();
  compactHeapOnce({ connections: () => connections, requests: () => 1 });

  await checkAfter(60_000);
  expect(old.deref()).toBeDefined();

  connections = 0;
  await checkAfter(5000);
  expect(old.deref()).toBeUndefined();
});

test("the heap is compacted a single time, and the function for it is not left behind", async () => {
  const connections = vi.fn<() => number>(() => 0);
  compactHeapOnce({ connections, requests: () => 0 });

  await checkAfter(60_000);
  expect(connections).toHaveBeenCalledTimes(1);
  expect(globalThis).not.toHaveProperty("gc");
});

test("the heap of a process that has had many requests is not compacted: V8 would drop optimized code", async () => {
  const old = garbage();
  compactHeapOnce({ connections: () => 0, requests: () => 10_000 });

  await checkAfter(60_000);
  expect(old.deref()).toBeDefined();
});

test("a client that is connected is in the number of connections", async () => {
  const server = await listen({ host: "127.0.0.1", port: 0, handler() {}, badRequest: () => "{}" });
  expect(server.connections()).toBe(0);

  const client = connect(server.port, "127.0.0.1");
  await vi.waitUntil(() => server.connections() === 1);
  client.destroy();
  await vi.waitUntil(() => server.connections() === 0);
  await server.drain(0);
});
