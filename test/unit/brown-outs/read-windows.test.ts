import { expect, test } from "@jest/globals";
import { readWindows } from "../../../src/brown-outs/read-windows.ts";
import { readEnvironment } from "../../../src/config/settings.ts";

test("a window has a schedule, a length, routes and clients", () => {
  const text =
    "0 10 * * 1 for 15m; routes=GET /vm/instances, POST  /vm/instances; clients=0123456789abcdef; zone=Europe/Berlin";
  expect(readWindows(text)).toEqual([
    {
      text,
      pattern: "0 10 * * 1",
      zone: "Europe/Berlin",
      lengthMs: 900_000,
      routes: ["GET /vm/instances", "POST /vm/instances"],
      clients: ["0123456789abcdef"],
    },
  ]);
});

test("omitted parts do not restrict a window, and | separates several windows", () => {
  expect(readWindows(" 0  0 1 1 * for 1h |*/5 9-17 * * 1-5 for 30s")).toMatchObject([
    { text: "0  0 1 1 * for 1h", zone: "UTC", lengthMs: 3_600_000, routes: [], clients: [] },
    { pattern: "*/5 9-17 * * 1-5", lengthMs: 30_000 },
  ]);
});

test.each([
  ["", /not a cron pattern/],
  ["0 10 * * 1", /not a cron pattern/],
  ["0 10 * * 1 for 15", /not a cron pattern/],
  ["0 10 * * for 15m", /not a cron pattern/],
  ["0 0 10 * * 1 for 15m", /not a cron pattern/],
  ["0 25 * * 1 for 15m", /"0 25 \* \* 1" in UTC/],
  ["0 10 * * 1 for 25h", /longer than a day/],
  ["0 10 * * 1 for 0m", /not a cron pattern/],
  ["0 10 * * 1 for 15m; zone=Mars/Olympus", /Mars\/Olympus/],
  ["0 10 * * 1 for 15m; routes=/vm/instances", /"\/vm\/instances" is not a route/],
  ["0 10 * * 1 for 15m; clients=me", /"me" is not a fingerprint/],
  ["0 10 * * 1 for 15m; client=0123456789abcdef", /"client" is not one of routes, clients, zone/],
  ["0 10 * * 1 for 15m; __proto__=x", /"__proto__" is not one of/],
  ["0 10 * * 1 for 15m; routes=GET /a; routes=GET /b", /"routes" is given twice/],
  ["0 10 * * 1 for 15m |", /not a cron pattern/],
])("%j is rejected with an example of a valid window", (text, reason) => {
  expect(() => readWindows(text)).toThrow(reason);
  expect(() => readWindows(text)).toThrow(/write windows as "0 10 \* \* 1 for 15m;/);
});

test("BROWN_OUTS is reported together with other invalid settings", () => {
  const read = () => readEnvironment({ BROWN_OUTS: "at noon", PORT: "x" });
  expect(read).toThrow(/PORT: [^]*BROWN_OUTS: "at noon" is invalid: "at noon" is not a cron pattern/);
});
