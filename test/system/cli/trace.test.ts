/** `explain --trace` as a process: what it reads from standard input. */
import { expect, test } from "@jest/globals";
import { spawnSync } from "node:child_process";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { PROGRAM, REPOSITORY } from "../e2e/program.ts";

function traceWith(input: string, ...args: string[]): { readonly out: string; readonly code: number | null } {
  const { stdout, stderr, status } = spawnSync(process.execPath, [PROGRAM, "explain", "--trace", ...args], {
    cwd: REPOSITORY,
    env: { PATH: process.env["PATH"] },
    input,
    encoding: "utf8",
  });
  return { out: stdout + stderr, code: status };
}

const VM = { id: 7, label: "one", status: "running", region: "us-east" };

test("the response of the upstream", () => {
  const { out, code } = traceWith(JSON.stringify(VM), "GET /vm/instances/7", "--response", "-");
  expect(out).toContain('label = "one"  <- label = "one"  (the same name)');
  expect(out).toContain("backups.enabled = false ? null : $value");
  expect(code).toBe(0);
});

test("a record, as export and the admin API give it", () => {
  const sample = sampleRecord("one", { route: "GET /vm/instances/:id" });
  const record = {
    ...sample,
    alpha: { ...sample.alpha, path: "/v4/vm/instances/7", query: "", filter: null, response: { id: 7 } },
    v4: [{ method: "GET", path: "/v4/vm/instances/7", filter: null, status: 200, ms: 1, response: VM }],
  };
  const { out, code } = traceWith(`${JSON.stringify(record)}\n`, "-");
  expect(out).toContain("route GET /vm/instances/:id, status 200");
  expect(out).toContain("└─ backups.enabled = nothing  (at 1)");
  expect(code).toBe(0);
});

test("that it is not a record", () => {
  expect(traceWith("{}", "-")).toEqual({
    out: expect.stringContaining("standard input is not one record as JSON"),
    code: 1,
  });
});
