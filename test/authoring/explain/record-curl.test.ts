import { describe, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { recordCurls } from "../../../src/compare/dry-run/record-curls.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { packIn } from "../../support/packs.ts";

const pack = packIn("mappings");
const sample = sampleRecord("a");

/** What a shell would hand to curl, word by word. */
function words(line: string): string[] {
  const script = line.replace(/^curl/m, "printf '%s\\0'");
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
  const command = curls({ alpha }).alpha;
  expect(words(command).at(-1)).toBe("@body.json");
  expect(command).toMatch(/^# the body was not recorded completely: put it into body\.json\ncurl /);
});

describe("a body that was not recorded is not left out silently", () => {
  const write = { ...sample.alpha, method: "POST", path: "/v4/vm/instances" };
  const call = { method: "POST", path: "/v4/vm/instances", filter: null, status: 200, ms: 1 };
  const { response: _response, ...metadata } = write;
  const NOTE = "# the body and its type were not recorded: put it into body.bin\n";

  test("in a native request: both commands read it from a file", () => {
    const { alpha, v4 } = curls({
      lane: "native",
      alpha: metadata,
      v4: [call],
      bytes: { in: 59, out: 2 },
    });
    for (const command of [alpha, ...v4]) {
      expect(command.startsWith(`${NOTE}curl `)).toBe(true);
      expect(words(command).at(-1)).toBe("@body.bin");
    }
  });

  test("in a native request without one there is nothing to say", () => {
    const { alpha, v4 } = curls({ lane: "native", alpha: metadata, v4: [call] });
    expect([alpha, ...v4].filter((command) => !command.startsWith("curl "))).toEqual([]);
  });

  test("in an upload", () => {
    const { alpha, v4 } = curls({
      alpha: write,
      v4: [{ ...call, body: { streamed: { in: 9, out: 0 } } }],
      bytes: { in: 9, out: 2 },
    });
    expect([alpha, ...v4].every((command) => command.startsWith(NOTE))).toBe(true);
  });

  test("with AUDIT=metadata: what v4 got is unknown", () => {
    const read = { ...call, method: "GET" };
    const { alpha, v4 } = curls({ alpha: metadata, v4: [read, call], bytes: { in: 9, out: 2 } });
    expect(alpha.startsWith(NOTE)).toBe(true);
    expect(v4.map((command) => command.split("\n", 1)[0])).toEqual([
      expect.stringMatching(/^curl /),
      "# bodies were not recorded: the command has none",
    ]);
  });
});

test("a form has the lists and the members as they were sent", () => {
  const forms = packIn("examples/billing/pack");
  const route = "POST /quotes/batch";
  const call = { method: "POST", path: "/quotes/batch", filter: null, status: 200, ms: 1 };
  const body = { quotes: [{ paid: true, items: [{ sku: "x" }], tags: ["a", "b"] }] };
  const { v4 } = recordCurls(
    { ...sample, alpha: { ...sample.alpha, route }, v4: [{ ...call, body }] },
    forms,
  );
  const sent = v4.map((command) => new URLSearchParams(words(command).at(-1)).toString());
  expect(sent.map(decodeURIComponent)).toEqual([
    "quotes[0][paid]=true&quotes[0][items][0][sku]=x&quotes[0][tags][0]=a&quotes[0][tags][1]=b",
  ]);
});

test.each([
  ["native", { lane: "native" as const }, "Authorization: Bearer T"],
  ["anonymous", { client: { ...sample.client, fingerprint: null } }, undefined],
])("a %s call shows its own credentials", (_case, change, header) => {
  expect(words(curls(change).alpha)[3]).toBe(header);
});
