/** When windows open and close, by a clock that the test drives. */
import { expect, test } from "@jest/globals";
import { scheduleBrownOuts } from "../../../src/brown-outs/brown-outs.ts";
import { readWindows } from "../../../src/brown-outs/read-windows.ts";

const ASKING = { client: "0123456789abcdef", route: "GET /vm/instances" };

function at(text: string) {
  let now = 0;
  const brownOuts = scheduleBrownOuts(readWindows(text), () => now);
  const set = (moment: string) => void (now = Date.parse(moment));
  return {
    hits(moment: string, asking: Partial<typeof ASKING> | { client: undefined } = {}) {
      set(moment);
      return brownOuts.isActive({ ...ASKING, ...asking })?.toISOString();
    },
    schedules(moment: string) {
      set(moment);
      return brownOuts.schedules();
    },
  };
}

test("a window opens at its minute and closes after its length", () => {
  // The 2nd of March 2026 is a Monday.
  const { hits } = at("0 10 * * 1 for 15m");
  expect(hits("2026-03-02T09:59:59.999Z")).toBeUndefined();
  expect(hits("2026-03-02T10:00:00.000Z")).toBe("2026-03-02T10:15:00.000Z");
  expect(hits("2026-03-02T10:14:59.999Z")).toBe("2026-03-02T10:15:00.000Z");
  expect(hits("2026-03-02T10:15:00.000Z")).toBeUndefined();
  expect(hits("2026-03-03T10:00:00.000Z")).toBeUndefined();
  expect(hits("2026-03-09T10:00:00.000Z")).toBe("2026-03-09T10:15:00.000Z");
});

test("a gateway that starts within a window, or whose clock is set back into one, applies it", () => {
  const { hits } = at("0 10 * * 1 for 15m");
  expect(hits("2026-03-09T10:07:00Z")).toBe("2026-03-09T10:15:00.000Z");
  expect(hits("2026-03-02T10:07:00Z")).toBe("2026-03-02T10:15:00.000Z");
  expect(hits("2026-03-02T09:00:00Z")).toBeUndefined();
});

test("windows follow their time zone into summer time", () => {
  const { hits } = at("0 10 * * * for 15m; zone=Europe/Berlin");
  expect(hits("2026-03-28T09:05:00Z")).toBe("2026-03-28T09:15:00.000Z");
  expect(hits("2026-03-30T09:05:00Z")).toBeUndefined();
  expect(hits("2026-03-30T08:05:00Z")).toBe("2026-03-30T08:15:00.000Z");
});

test("a window affects only its routes and clients", () => {
  const { hits } = at("0 10 * * * for 1h; routes=GET /vm/instances; clients=0123456789abcdef");
  const moment = "2026-03-02T10:30:00Z";
  expect(hits(moment)).toBe("2026-03-02T11:00:00.000Z");
  expect(hits(moment, { route: "GET /vm/instances/:id" })).toBeUndefined();
  expect(hits(moment, { client: "fedcba9876543210" })).toBeUndefined();
  expect(hits(moment, { client: undefined })).toBeUndefined();
});

test("of overlapping windows, the one that closes last counts", () => {
  const { hits } = at("0 10 * * * for 1h | 30 10 * * * for 1h; routes=GET /vm/instances");
  expect(hits("2026-03-02T10:45:00Z")).toBe("2026-03-02T11:30:00.000Z");
  expect(hits("2026-03-02T10:45:00Z", { route: "GET /kernels" })).toBe("2026-03-02T11:00:00.000Z");
});

test("the status lists the open windows and the next ones", () => {
  const { schedules } = at("0 10 * * 1 for 15m");
  expect(schedules("2026-03-02T10:05:00Z")).toMatchObject([
    { open: true, from: new Date("2026-03-02T10:00:00Z") },
  ]);
  expect(schedules("2026-03-02T10:20:00Z")).toMatchObject([
    { open: false, from: new Date("2026-03-09T10:00:00Z"), until: new Date("2026-03-09T10:15:00Z") },
  ]);
});
