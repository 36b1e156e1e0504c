import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { endAll, REPOSITORY, run } from "./program.ts";

afterEach(endAll);

test("under mixed load, with clients that go away, no answer is lost and no descriptor stays open", async () => {
  const script = [join(REPOSITORY, "bench", "soak.ts")];
  const { code, out, err } = await run(["--seconds", "20", "--rate", "40"], { script }).ended;

  expect(out).toContain("Verdict: steady: no answer lost, nothing grew.");
  expect({ code, err }).toEqual({ code: 0, err: "" });
}, 180_000);
