import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { REPOSITORY, run } from "./program.ts";

const script = [join(REPOSITORY, "bench", "main.ts")];

test("the bench runs, every request gets a response, and each target has figures", async () => {
  const { code, out, err } = await run(["--quick"], { script }).ended;

  const number = String.raw` +-?[\d.]+`;
  const goal = String.raw` +(?:-|[\d.]+)`;
  for (const target of [
    "alpha pipeline, AUDIT=off",
    "alpha pipeline, AUDIT=metadata",
    "alpha pipeline, AUDIT=full",
    "native proxy, AUDIT=off",
    "native proxy, AUDIT=metadata",
    "native proxy, AUDIT=full",
    "bare",
  ]) {
    const rows = out.match(new RegExp(`^${target}.*${number.repeat(6)}${goal}${number.repeat(3)}$`, "gm"));
    expect(rows?.map((row) => row.split(/ +/).at(-1))).toEqual(["0", "0", "0", "0"]);
  }
  expect(out).toMatch(/^Time to ready: \d+ ms.*Resident then: \d+ MB/m);
  expect(out).toMatch(/^First 100 lists: \d+ us/m);
  expect({ code, err }).toEqual({ code: 0, err: "" });
}, 240_000);
