import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { killAll, REPOSITORY, run } from "./program.ts";
import { faults, report } from "../../../bench/report.ts";
import type { Measurement } from "../../../bench/measure.ts";

afterEach(killAll);

const script = [join(REPOSITORY, "bench", "main.ts")];

test("the bench runs, every request gets a response, and each target has figures", async () => {
  const { code, out, err } = await run(["--quick"], { script }).ended;

  const number = String.raw` +-?[\d.]+`;
  for (const target of [
    "alpha pipeline, AUDIT=off",
    "alpha pipeline, AUDIT=metadata",
    "alpha pipeline, AUDIT=full",
    "native proxy",
    "bare",
  ]) {
    const rows = out.match(new RegExp(`^${target}.*${number.repeat(9)}$`, "gm"));
    expect(rows?.map((row) => row.split(/ +/).at(-1))).toEqual(["0", "0", "0", "0"]);
  }
  expect(out).toMatch(/^Time to ready: \d+ ms.*Resident then: \d+ MB/m);
  expect(out).toMatch(/^First 100 lists: \d+ us/m);
  expect({ code, err }).toEqual({ code: 0, err: "" });
}, 240_000);

test("an unknown bench flag is rejected", async () => {
  const { code } = await run(["--fast"], { script }).ended;

  expect(code).toBe(1);
});

test("the report compares CPU time with the peer, takes medians, and names what failed", () => {
  const round = (target: string, cpu: number, failed = 0): Measurement => ({
    target,
    request: "List",
    requests: 10,
    failed,
    fault: failed ? "status 500, 20 bytes" : undefined,
    perSecond: 1000,
    p50: 1,
    p99: 2,
    cpu,
    memory: 1024 ** 2,
    v4Calls: 1,
  });
  const measured = [
    round("gateway", 300),
    round("gateway", 200, 3),
    round("gateway", 900),
    round("peer", 100),
  ];

  expect(report(measured)).toMatch(/^gateway +1000 +1\.00 +0\.00 +2\.00 +300 +3\.00 +1 +1\.0 +3$/m);
  expect(report(measured)).toMatch(/^peer +1000 +1\.00 +0\.00 +2\.00 +100 +1\.00 +1 +1\.0 +0$/m);
  expect(faults(measured)).toEqual(["gateway, List: status 500, 20 bytes"]);
});
