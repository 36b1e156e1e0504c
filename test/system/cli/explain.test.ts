/** `explain` as a process: its output and its exit code. */

import { afterEach, describe, expect, test } from "@jest/globals";
import { spawnSync } from "node:child_process";
import { killAll, run } from "../e2e/program.ts";

afterEach(killAll);

const explain = (...args: string[]) => run(["explain", ...args]).ended;

/** The arguments of each printed curl command after `-g`, as a shell parses them. */
function pasted(printed: string): string[][] {
  const script = `V4=https://v4.example TOKEN=t; curl() { shift; printf '%s\\0' "$@"; printf '\\0'; }\n${printed}`;
  const { stdout, stderr, status } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return stdout
    .split("\0\0")
    .slice(0, -1)
    .map((words) => words.split("\0"));
}

const AUTHORISED = ["-H", "Authorization: Bearer t"];
const JSON_BODY = ["-H", "Content-Type: application/json", "--data-raw"];

describe("explain prints commands for a shell", () => {
  test("for a filter in v4's terms", async () => {
    const { out, code } = await explain(
      "GET /vm/instances?page=2",
      "-H",
      `X-Filter: {"group":"it's","datacenter":"newark"}`,
    );
    expect(pasted(out)).toEqual([
      [
        "https://v4.example/v4/vm/instances?page=2&page_size=25",
        ...AUTHORISED,
        "-H",
        `X-Filter: {"group":"it's","region":"us-east"}`,
      ],
    ]);
    expect(code).toBe(0);
  });

  test("for a file and a DELETE", async () => {
    const path = "https://v4.example/v4/account/oauth-clients/abc/thumbnail";
    expect(pasted((await explain("GET /account/clients/abc/thumbnail")).out)).toEqual([
      [path, ...AUTHORISED],
    ]);
    const removal = ["-X", "DELETE", "https://v4.example/v4/vm/instances/5", ...AUTHORISED];
    expect(pasted((await explain("DELETE /vm/instances/5")).out)).toEqual([removal]);
  });

  test("for a body with any characters, with the prerequisite that validates it", async () => {
    const body = {
      datacenter: "newark",
      type: "vm1024.5",
      distribution: "vm/debian8",
      root_pass: "'; rm -rf / #\n$(id)`id`\u001b[2J\u009b",
      stackscript: 5,
    };
    const { out, code } = await explain("POST /vm/instances", "-d", JSON.stringify(body));
    const [before, call, ...more] = pasted(out);
    expect(before).toEqual(["https://v4.example/v4/vm/stackscripts/5", ...AUTHORISED]);
    expect(call?.slice(0, -1)).toEqual([
      "-X",
      "POST",
      "https://v4.example/v4/vm/instances",
      ...AUTHORISED,
      ...JSON_BODY,
    ]);
    expect(JSON.parse(call?.at(-1) ?? "")).toMatchObject({ region: "us-east", root_pass: body.root_pass });
    expect(more).toEqual([]);
    expect(out).not.toMatch(/[^\P{Cc}\n]/u);
    expect(out).toContain('# before the call, to validate "stackscript"');
    expect(out).toContain('# sent again without "label" if v4 rejects only that member');
    expect(code).toBe(0);
  });

  test("for related requests, each with its condition", async () => {
    const { out } = await explain("GET /vm/instances/5");
    expect(pasted(out).map(([url]) => url)).toEqual([
      "https://v4.example/v4/vm/instances/5",
      "https://v4.example/v4/vm/instances/5/transfer",
      "https://v4.example/v4/vm/instances/5/backups",
    ]);
    expect(out).toContain('# additionally, for "backups", if backups.enabled');
    expect(out).toContain("# possible loss (detail): total_transfer: a part of a GB; 0 in lists");
  });

  test("for prerequisites, waiting and a read after the call, in order", async () => {
    const edit = await explain("PUT /vm/instances/5/configs/7", "-d", '{"disks":{"sda":5}}');
    expect(
      pasted(edit.out).map(([first, second, url]) => (first === "-X" ? `${second} ${url}` : first)),
    ).toEqual([
      "https://v4.example/v4/vm/instances/5/configs/7",
      "PUT https://v4.example/v4/vm/instances/5/configs/7",
      "https://v4.example/v4/vm/instances/5/disks?page=1&page_size=100",
    ]);
    expect(edit.out).toMatch(/^# additionally, for "disks", all pages/m);
    const boot = await explain("POST /vm/instances/5/boot");
    expect(boot.out).toMatch(
      /^# before the call, every 2000 ms for at most 20000 ms, until status in .*\ncurl /m,
    );
    const cancel = await explain("POST /vm/instances/5/backups/cancel");
    expect(cancel.out).toMatch(/^# after the call, for the response\ncurl .*\/v4\/vm\/instances\/5'/m);
  });

  test("for a response from the catalog cache, and an edit that becomes a read", async () => {
    const catalog = await explain("GET /vm/kernels/vm/latest_64");
    expect(catalog).toMatchObject({
      code: 0,
      out: expect.stringContaining("the catalog cache, which is filled by\ncurl "),
    });
    expect(pasted((await explain("PUT /vm/instances/5", "-d", "{}")).out)[0]?.[0]).toBe(
      "https://v4.example/v4/vm/instances/5",
    );
  });
});

test("explain shows the call of a route whose success is not a 200", async () => {
  const { out, code } = await explain("POST /orders/5/refund", "--mappings-dir", "examples/shop/pack");
  expect([code, pasted(out)]).toEqual([
    0,
    [expect.arrayContaining([expect.stringContaining("/api/purchases/5/refunds")])],
  ]);
});

test("explain shows the version that the upstream is asked for, and the headers that pass", async () => {
  const { out } = await explain(
    "GET /orders/5",
    "-H",
    'If-None-Match: "v1"',
    "--mappings-dir",
    "examples/shop/pack",
  );
  expect(pasted(out)[0]?.filter((_word, index, words) => words[index - 1] === "-H")).toEqual([
    "X-Client: gateway",
    "X-Api-Version: 3",
    'If-None-Match: "v1"',
  ]);
});

test("explain shows requests after the call with the names of what only its response has", async () => {
  const ofPack = ["--mappings-dir", "examples/shipping/pack"];
  const { out, code } = await explain("PUT /labels/current", "-d", '{"paper":"a6"}', ...ofPack);
  const paths = [...out.matchAll(/^curl -g .*?'(\/[^']*)'/gm)].map(([, path]) => path);
  expect(paths).toEqual(["/prints/current", "/jobs/{response.job.id}", "/prints/{response.print}"]);
  expect(out).toContain(
    "# after the call, for the response, after a 202, every 10 ms for at most 1000 ms, until done",
  );
  expect(code).toBe(0);
});

test("explain shows values of one answer in the next path by their names", async () => {
  const { out, code } = await explain("GET /parcels/7/carriers", "--mappings-dir", "examples/shipping/pack");
  const paths = [...out.matchAll(/^curl -g .*?'(\/[^']*)'/gm)].map(([, path]) => path);
  expect([code, paths]).toEqual([
    0,
    [
      "/consignments/7",
      "/depots/{consignment.depot}",
      "/carriers?country={depot.address.country}&depot={consignment.depot}",
    ],
  ]);
});

test("explain shows the calls of an object that the upstream wraps", async () => {
  const { out, code } = await explain("GET /receipts/7", "--mappings-dir", "examples/cursors/pack");
  expect([code, pasted(out).length]).toEqual([0, 2]);
  expect(out).toContain("/invoices/7'");
});

test("explain shows the call for each id of a request", async () => {
  const ofPack = ["--mappings-dir", "examples/shipping/pack"];
  const { out, code } = await explain("GET /deliveries/states?ids=d3,d1,x,d2", ...ofPack);
  const paths = [...out.matchAll(/^curl -g .*?'(\/[^']*)'/gm)].map(([, path]) => path);
  expect([code, paths]).toEqual([0, ["/drops/3", "/drops/1", "/drops/2"]]);
  expect(out).toContain("# once for each id\ncurl ");
});

describe("explain prints alpha's errors for a rejected request, and exits with 1", () => {
  test.each([
    [
      "all errors of a body",
      ["POST /vm/instances", "-d", '{"label":"x"}'],
      /^# {3}datacenter: This field is required\.$/m,
    ],
    ["a filter", ["GET /vm/instances", "-H", 'X-Filter: {"nope":1}'], /^# {3}nope cannot be filtered by\.$/m],
    [
      "no counterpart",
      ["POST /feedback"],
      /^# rejected by the gateway with 400\n# {3}This call has no counterpart/m,
    ],
    ["no such route", ["GET /nope"], /^# rejected by the gateway with 404: alpha has no such route$/m],
  ])("%s", async (_what, args, message) => {
    const { out, code } = await explain(...args);
    expect(out).toMatch(message);
    expect(pasted(out)).toEqual([]);
    expect(code).toBe(1);
  });
});
