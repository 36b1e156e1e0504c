/** `alpha-gateway coverage`, in this process, over files of the test. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { writeSmallPack } from "../../support/small-pack.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { UNLIMITED } from "../../audit/store/store-contract.ts";

let folder: string;
const printed = captureCommands();
beforeEach(async () => {
  folder = temporaryFolder();
});

interface Sent extends Partial<AuditRecord["alpha"]> {
  readonly client?: string | null;
  readonly lane?: AuditRecord["lane"];
  readonly bytesIn?: number;
}

/** Each client has an address of its own. */
const addressOf = (client: string): string => `192.0.2.${client.charCodeAt(0) % 256}`;

let ids = 0;
/** A call that the old service has answered. */
function legacy(
  call: string,
  { client = "c1", lane = "legacy", bytesIn = 0, ...alpha }: Sent = {},
): AuditRecord {
  const [method = "GET", target = "/"] = call.split(" ");
  const [path = "", query = ""] = target.split("?");
  ids += 1;
  const sample = sampleRecord(`r${ids}`, { client, lane, accepted: true });
  return {
    ...sample,
    client: { ...sample.client, address: addressOf(client ?? "") },
    alpha: { method, path, query, route: null, filter: null, status: 200, ...alpha },
    v4: [],
    bytes: { in: bytesIn, out: 0 },
  };
}

const save = async (name: string, content: string | Buffer): Promise<string> => {
  const file = join(folder, name);
  await writeFile(file, content);
  return file;
};

const exported = (records: readonly AuditRecord[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

const cover = (...flags: string[]): Promise<number> =>
  runCommandLine(["coverage", "--mappings-dir=examples/library/pack", ...flags]);

async function coverFile(name: string, content: string, flags: readonly string[]) {
  const file = await save(name, content);
  const code = await cover(`--from=${file}`, "--format=json", ...flags);
  const text = printed();
  return { code, ...(JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)) as Report) };
}

const coverRecords = (records: readonly AuditRecord[], ...flags: string[]) =>
  coverFile("records.ndjson", exported(records), flags);

interface Report {
  readonly calls: number;
  readonly served: number;
  readonly clients: readonly {
    readonly client: string | null;
    readonly calls: number;
    readonly served: number;
  }[];
  readonly refusals: readonly {
    readonly kind: string;
    readonly route: string;
    readonly reason: string;
    readonly calls: number;
    readonly clients: number;
    readonly samples: readonly string[];
  }[];
  readonly notJudged: readonly { readonly reason: string; readonly calls: number }[];
}

describe("a recorded call", () => {
  test.each<[string, AuditRecord]>([
    ["a list", legacy("GET /old/books?page=2")],
    ["a HEAD", legacy("HEAD /old/books")],
    ["an object", legacy("GET /old/books/17")],
    ["a filter that v4 can express", legacy("GET /old/books", { filter: '{"title":"web"}' })],
    ["a valid body", legacy("POST /old/books", { body: { shelf: "a/1" } })],
    ["a catalog", legacy("GET /old/shelves")],
  ])("is served: %s", async (_what, record) => {
    expect(await coverRecords([record])).toMatchObject({ code: 0, calls: 1, served: 1, refusals: [] });
  });

  test.each<[string, AuditRecord, object]>([
    [
      "no route has its path",
      legacy("GET /old/books/17/unheard-of"),
      { kind: "path", route: "GET /old/books/:id/unheard-of", reason: "no route of the pack has this path" },
    ],
    [
      "its path is below another prefix",
      legacy("GET /v1/orders/17"),
      { kind: "path", route: "GET /v1/orders/:id" },
    ],
    ["only other methods have its path", legacy("PATCH /old/books/17"), { kind: "method" }],
    [
      "the pack would ignore a parameter",
      legacy("GET /old/books?shape=round&page=1"),
      { kind: "parameter", route: "GET /books", reason: "unknown query parameter: shape" },
    ],
    [
      "its filter has no translation",
      legacy("GET /old/books", { filter: '{"no_such_field":"x"}' }),
      { kind: "request", route: "GET /books", reason: expect.stringContaining("no_such_field") },
    ],
    [
      "its body breaks a rule",
      legacy("POST /old/books", { body: { title: "x" } }),
      { kind: "request", route: "POST /books", reason: expect.stringContaining("shelf") },
    ],
    ["it has no token", legacy("GET /old/books", { client: null }), { kind: "credentials" }],
  ])("is refused where %s", async (_why, record, refusal) => {
    const { refusals, ...report } = await coverRecords([record]);
    expect(report).toMatchObject({ code: 0, calls: 1, served: 0 });
    expect(refusals).toEqual([
      expect.objectContaining({ calls: 1, clients: 1, samples: [record.id], ...refusal }),
    ]);
  });

  test.each<[string, AuditRecord]>([
    ["the old service answered with an error", legacy("GET /nothing", { status: 404 })],
    [
      "its body was recorded cut (AUDIT_BODY_LIMIT)",
      legacy("POST /old/books", { body: { truncated: true, bytes: 9, text: "{" } }),
    ],
    ["its body was not recorded (AUDIT=metadata)", legacy("POST /old/books", { bytesIn: 20 })],
    [
      "it depends on an object of v4, which is not recorded",
      legacy("PUT /old/trays/17", { body: { stands: "perhaps unchanged" } }),
    ],
    [
      "it has a masked value, which may be valid",
      legacy("POST /old/books", { body: { shelf: "a/1", price: "[redacted]" } }),
    ],
  ])("is not judged where %s", async (reason, record) => {
    expect(await coverRecords([record])).toMatchObject({
      code: 2,
      calls: 0,
      notJudged: [{ reason, calls: 1 }],
    });
  });

  test("is refused where the pack rejects the operation", async () => {
    const routes = [{ client: "DELETE /books/:id", reject: "unknown_record" }];
    const pack = writeSmallPack({ book: { routes } });
    const report = await coverRecords([legacy("DELETE /books/1")], `--pack=${pack}`);
    expect(report.refusals).toMatchObject([
      { kind: "rejected", route: "DELETE /books/:id", reason: "There is no such object." },
    ]);
  });

  test("is left out if it is one of v4's own clients", async () => {
    expect(await coverRecords([legacy("GET /old/x", { lane: "native" })])).toMatchObject({
      code: 2,
      notJudged: [],
    });
  });
});

describe("the result", () => {
  const records = [
    legacy("GET /old/books", { client: "a" }),
    legacy("GET /old/books", { client: "b" }),
    legacy("GET /old/rare/1", { client: "a" }),
    legacy("GET /old/rare/2", { client: "b" }),
    ...[1, 2, 3].map((id) => legacy(`GET /old/often/${id}`, { client: "c" })),
  ];

  test("counts calls and clients, and groups refusals by route and reason", async () => {
    const report = await coverRecords(records);
    expect(report).toMatchObject({ calls: 7, served: 2 });
    expect(report.clients).toEqual([
      { client: "c", calls: 3, served: 0 },
      { client: "a", calls: 2, served: 1 },
      { client: "b", calls: 2, served: 1 },
    ]);
    expect(report.refusals.map(({ route, calls, clients }) => [route, calls, clients])).toEqual([
      ["GET /old/often/:id", 3, 1],
      ["GET /old/rare/:id", 2, 2],
    ]);
  });

  test("ranks refusals by clients where it is asked to", async () => {
    const { refusals } = await coverRecords(records, "--by=clients");
    expect(refusals.map(({ route }) => route)).toEqual(["GET /old/rare/:id", "GET /old/often/:id"]);
  });

  test("names clients as CLIENTS_FILE does", async () => {
    const clients = await save("clients.yaml", 'Billing:\n  tokens: ["00000000000000cc"]\n');
    const { clients: found } = await coverRecords(
      [legacy("GET /old/books", { client: "00000000000000cc" })],
      `--clients-file=${clients}`,
    );
    expect(found).toEqual([{ client: "Billing", calls: 1, served: 1 }]);
  });

  test("is text by default", async () => {
    const file = await save("records.ndjson", exported(records));
    expect(await cover(`--from=${file}`)).toBe(0);
    expect(printed()).toContain("28.57 % of the calls would be served: 2 of 7");
    expect(printed()).toContain("0 % of the clients would be served completely: 0 of 3");
    expect(printed()).toContain("\n    3        1  GET /old/often/:id: no route of the pack has this path\n");
  });

  test.each([
    ["25%", 0],
    ["25.01", 2],
    ["50.01", 1],
    ["100%", 1],
  ])("fails a gate below %s with the exit code %d", async (least, code) => {
    expect(await coverRecords(records, `--fail-below=${least}`)).toMatchObject({ code });
  });

  test("counts an ignored parameter as served where it may be ignored", async () => {
    const record = legacy("GET /old/books?_=123");
    expect(await coverRecords([record], "--ignore-parameter", "_")).toMatchObject({ served: 1 });
  });

  test("reads a data folder and a compressed export like an export", async () => {
    const store = await openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
    for (const record of records) await store.append(record);
    await store.close();
    expect(await cover(`--from=${folder}`)).toBe(0);
    expect(printed()).toContain("2 of 7");
    const file = await save("records.zst", zstdCompressSync(exported(records)));
    expect(await cover(`--from=${file}`, "--fail-below=99%")).toBe(1);
  });
});

describe("a HAR file", () => {
  const entry = (method: string, url: string, others: object = {}, status = 200): object => ({
    startedDateTime: "2026-03-01T10:00:00.000Z",
    request: { method, url, httpVersion: "HTTP/1.1", headers: [], queryString: [], ...others },
    response: { status, headers: [], content: {} },
  });
  const har = (...entries: unknown[]): string =>
    JSON.stringify({ log: { version: "1.2", entries } }, null, 2);
  const json = (value: unknown): object => ({
    postData: { mimeType: "application/json", text: JSON.stringify(value) },
  });

  const coverHar = (text: string, ...flags: string[]) => coverFile("calls.har", text, flags);

  test("is read like records, with its filters, bodies and tokens", async () => {
    const report = await coverHar(
      har(
        entry("GET", "https://old.example/old/books?page=1", {
          headers: [
            { name: "X-Where", value: '{"title":"web"}' },
            { name: "Authorization", value: "key abcdefgh" },
          ],
        }),
        entry("POST", "https://old.example/old/books", json({ shelf: "a/1" })),
        entry("POST", "https://old.example/old/books", json({})),
        entry("GET", "https://old.example/old/books/1", {}, 404),
      ),
    );
    expect(report).toMatchObject({ code: 0, calls: 3, served: 2, notJudged: [{ calls: 1 }] });
    expect(report.clients).toHaveLength(2);
    expect(report.refusals).toMatchObject([{ kind: "request", samples: ["entry 3"] }]);
  });

  test("may have calls to other addresses, which --base-url leaves out with its path", async () => {
    const text = har(
      entry("GET", "https://old.example/api/old/books"),
      entry("GET", "https://cdn.example/logo.png"),
      entry("GET", "data:text/plain,x"),
    );
    expect(await coverHar(text, "--base-url=https://old.example/api")).toMatchObject({ calls: 1, served: 1 });
  });

  test.each([
    ["is no JSON", '{"log": {"entries": [', "not valid JSON"],
    ["has no entries", '{"log": {}}', "log.entries"],
    ["has something else as an entry", har({ request: 1 }), "Entry 1 of the archive is not a request"],
    ["has a header without a name", har(entry("GET", "http://a/", { headers: [{ value: 1 }] })), "Entry 1"],
  ])("that %s ends the command with what is wrong", async (_how, text, message) => {
    const file = await save("calls.har", text);
    expect(await cover(`--from=${file}`)).toBe(1);
    expect(printed()).toContain("AG_HAR_INVALID");
    expect(printed()).toContain(message);
  });

  test("with hostile names and values is read without a fault, and prints no control characters", async () => {
    const report = await coverHar(
      har(
        entry("GET", "https://old.example/old/%E0%A4%A", { headers: [{ name: "__proto__", value: "x" }] }),
        entry("POST", "https://old.example/old/books", json({ ["\u001b[2J"]: { constructor: 1 } })),
        entry("GET", `https://old.example/old/${"a/".repeat(20_000)}`),
      ),
    );
    expect(report).toMatchObject({ calls: 3, served: 0 });
    const file = await save("calls.har", har(entry("GET", "https://old.example/old/x%1b[2J")));
    await cover(`--from=${file}`);
    expect(printed()).not.toContain("\u001b");
  });
});
