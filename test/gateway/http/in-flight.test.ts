/** Records are made once the responses of a turn of the event loop are sent; shutdown waits for them. */
import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { AfterResponses, createInFlightTracker } from "../../../src/gateway/http/in-flight.ts";

const LATE_MS = 30_000;

test("tasks run in their order at the end of the turn, and those that they add as well", async () => {
  const later = new AfterResponses(createInFlightTracker());
  const done: string[] = [];
  later.add(() => {
    done.push("first");
    later.add(() => void done.push("third"));
  });
  later.add(() => void done.push("second"));
  expect(done).toEqual([]);
  await nextTurn();
  expect(done).toEqual(["first", "second", "third"]);
});

test("a task has the asynchronous context that it was added in, as loggers and tracers of a host need it", async () => {
  const later = new AfterResponses(createInFlightTracker());
  const requests = new AsyncLocalStorage<string>();
  const found: unknown[] = [];
  for (const id of ["a", "b"])
    requests.run(id, () => later.add(() => void found.push([id, requests.getStore()])));
  await nextTurn();
  expect(found).toEqual([
    ["a", "a"],
    ["b", "b"],
  ]);
});

test("shutdown waits for the task that the last request adds when it ends", async () => {
  const inFlight = createInFlightTracker();
  const later = new AfterResponses(inFlight);
  const done: string[] = [];
  const end = inFlight.begin();
  setTimeout(() => {
    // As with a response that was forwarded: its request is over before its record is asked for.
    end();
    later.add(() => void done.push("record"));
  }, 10);
  await inFlight.idle(LATE_MS);
  expect(done).toEqual(["record"]);
});

test("shutdown does not wait longer than its time limit", async () => {
  const inFlight = createInFlightTracker();
  inFlight.begin();
  const waited = inFlight.idle(10).then(() => "ended");
  expect(await Promise.race([waited, wait(LATE_MS, "waits", { ref: false })])).toBe("ended");
});
