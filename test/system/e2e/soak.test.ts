import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { REPOSITORY, run } from "./program.ts";

test("a short soak run with all clients and operators succeeds and leaks no descriptor", async () => {
  const script = [join(REPOSITORY, "bench", "soak.ts")];
  const { code, out, err } = await run(["--seconds", "15", "--rate", "40"], { script }).ended;

  expect(out).toContain("Verdict: steady: nothing failed, nothing grew");
  const done = [...out.matchAll(/^ +(\d+) (an? .+|no token|creates .+)$/gm)];
  expect(done.length).toBeGreaterThan(20);
  expect(done.filter(([, times]) => Number(times) === 0)).toEqual([]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
}, 180_000);
