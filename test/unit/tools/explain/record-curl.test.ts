import { expect, test } from "vitest";
import { execFileSync } from "node:child_process";
import type { AuditRecord } from "../../../../src/audit/record.ts";
import { recordCurls } from "../../../../src/tools/explain/record-curls.ts";
import { loadPack } from "../../../../src/mapping/load/load-pack.ts";
import { sampleRecord } from "../../../integration/audit/sample-record.ts";

const pack = loadPack("mappings");
const sample = sampleRecord("a");

/** What a shell would hand to curl, word by word. */
function words(line: string): string[] {
  const script = line.replace(/^curl/, "printf '%s\\0'");
  const env = { PATH: process.env["PATH"], GATEWAY: "http://g", V4: "http://v4", TOKEN: "T" };
  return execFileSync("sh", ["-c", script], { encoding: "utf8", env }).split("\0").slice(0, -1);
}

const curls = (change: Partial<AuditRecord>) => recordCurls({ ...sample, ...change }, pack);

test("a GET has its query and filter in alpha, and in v4 what was sent", () => {
  const alpha = { ...sample.alpha, filter: `{"label":"it's"}` };
  const { alpha: line, v4 } = curls({ alpha });
  expect(words(line)).toEqual([
    "-g",
    "http://g/v4/vm/instances?page=1",
    "-H",
    "Authorization: token T",
    "-H",
    `X-Filter: {"label":"it's"}`,
  ]);
  expect(v4.map(words)).toEqual([
    ["-g", "http://v4/v4/vm/instances?page=1", "-H", "Authorization: Bearer T"],
  ]);
});

test("a write has its body, with placeholders for secrets", () => {
  const body = { label: "$(id) `id` 'x'", root_pass: "[redacted]" };
  const alpha = { ...sample.alpha, method: "POST", query: "", body };
  const [url, ...rest] = words(curls({ alpha }).alpha).slice(3);
  expect([url, ...rest.slice(-2)]).toEqual([
    "http://g/v4/vm/instances",
    "--data-raw",
    JSON.stringify({ ...body, root_pass: "<root_pass>" }),
  ]);
});

test("a body that was recorded incompletely is read from a file", () => {
  const alpha = { ...sample.alpha, method: "POST", body: { truncated: true, bytes: 9, text: "{" } };
  expect(words(curls({ alpha }).alpha).at(-1)).toBe("@body.json");
});

test.each([
  ["native", { lane: "native" as const }, "Authorization: Bearer T"],
  ["anonymous", { client: { ...sample.client, fingerprint: null } }, undefined],
])("a %s call shows its own credentials", (_case, change, header) => {
  expect(words(curls(change).alpha)[3]).toBe(header);
});
