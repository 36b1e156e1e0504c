import { expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { run } from "./program.ts";

test("check finds no problem in the included pack, and prints what it covers", async () => {
  const { code, out } = await run(["check"]).ended;

  expect(out).toMatch(
    /^\d+ routes, \d+ objects, \d+ fields\nfields by class: .+\nsurface: \d+ of \d+ routes mapped, (\d+) of \1 fields mapped\n/,
  );
  expect(out).toMatch(/^ {2}POST \/feedback +400 This call has no counterpart/m);
  expect(out).toMatch(
    /\nexpressions compiled \d+, interpreted 0\ngolden cases: (\d+) of \1 routes, .+\n {2}without a golden case: .+\n\d+ examples passed\n$/,
  );
  expect(code).toBe(0);
});

test("sandbox runs v4 alone, until a signal", async () => {
  const sandbox = run(["sandbox", "--port", "0"], { cwd: temporaryFolder() });
  const [, url = "", token = ""] = await sandbox.waitForOutput(/^v4 sandbox +(\S+)[^]*^ +full +(\S+)$/m);

  const response = await fetch(`${url}/v4/vm/instances`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ data: expect.any(Array), page: 1 });

  sandbox.signal("SIGTERM");
  expect(await sandbox.ended).toMatchObject({ code: 0, signal: null, err: "" });
});
