/** `alpha-gateway impact`, in this process, with a store of its own and the pack of a library. */
import { mkdtempSync, readFileSync, writeFileSync, cpSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { NumberedNames } from "../../../src/audit/record/numbered-names.ts";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { createReport } from "../../../src/migration/report/make-report.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { UNLIMITED } from "../../audit/store/store-contract.ts";

const PACK = "examples/library/pack";
const BUY = "POST /books";
const folder = temporaryFolder();
const printed = captureCommands();

/** Calls of three clients: what each sends, and on which day. */
const CALLS: readonly (readonly [client: string, route: string, sent: readonly string[], day: number])[] = [
  ["0000000000000001", BUY, ["body.title", "body.shelf"], 1],
  ["0000000000000001", BUY, ["body.title", "body.shelf"], 2],
  ["0000000000000002", BUY, ["body.shelf", "body.price"], 1],
  ["0000000000000002", BUY, ["body.shelf", "body.title"], 3],
  ["0000000000000003", "GET /books", ["filter.state", "filter.state=available"], 4],
  ["0000000000000003", "GET /trays", [], 4],
];

beforeAll(async () => {
  const pack = loadPack(PACK);
  const store = await openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
  for (const [index, [client, route, sent, day]] of CALLS.entries()) {
    const names = pack.sentNames.get(route)?.names ?? [];
    const bits = new Uint8Array(Math.ceil(names.length / 8));
    for (const name of sent) {
      const at = names.indexOf(name);
      if (at < 0) throw new Error(`${route} has no ${name}`);
      bits[at >> 3] = (bits[at >> 3] ?? 0) | (0x80 >> (at & 7));
    }
    const time = `2026-03-0${day}T10:00:00.000Z`;
    const agent = `program-${client.at(-1)}/1.0`;
    const record = sampleRecord(`${index}`, { client, route, time, agent });
    await store.append({ ...record, sent: new NumberedNames(names, bits) });
  }
  await store.close();
  writeFileSync(
    join(folder, "clients.yaml"),
    'Billing | sync:\n  tokens: ["0000000000000001"]\n'.replace(" | ", " "),
  );
});

const run = (...flags: string[]): Promise<number> =>
  runCommandLine([
    "impact",
    ...flags,
    `--data-dir=${folder}`,
    `--mappings-dir=${PACK}`,
    `--clients-file=${join(folder, "clients.yaml")}`,
  ]);

describe("what may go", () => {
  test("is a route, whose callers are named with their calls and last days", async () => {
    expect(await run("--route", BUY)).toBe(1);
    expect(printed()).toContain("Billing sync: 2 calls, the last on 2026-03-02");
    expect(printed()).toContain("0000000000000002: 2 calls, the last on 2026-03-03");
    expect(printed()).toContain("2 clients would notice");
  });

  test("is a member, for which calls of the days count on which it was sent", async () => {
    expect(await run("--field", "title", "--route", BUY)).toBe(1);
    expect(printed()).toContain("POST /books, body.title: 2 clients send it");
    expect(printed()).toContain("0000000000000002: 1 call, the last on 2026-03-03");
    expect(printed()).toContain("answer.title: 2 clients get it; only a field brown-out of the plan shows");
  });

  test("is a word, or a field on any route, within some days", async () => {
    expect(await run("--word", "state=available")).toBe(1);
    expect(printed()).toContain("1 client would notice: 0000000000000003");
    expect(await run("--word", "filter.state=lent")).toBe(0);
    expect(await run("--field", "body.price", "--since=2026-03-02")).toBe(0);
    expect(printed()).toContain("No client would notice.");
  });

  test("is a field of a filter that no caller of the route has sent, ever", async () => {
    expect(await run("--route=GET /trays")).toBe(1);
    expect(await run("--field=filter.full")).toBe(0);
    expect(printed()).toContain("No client would notice.");
  });

  test("says from which day on names are counted, where calls are known of earlier days", async () => {
    await run("--field=body.title");
    expect(printed()).not.toContain("Names are known since");
    const store = await openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
    await store.append(
      sampleRecord("early", { client: "0000000000000004", route: BUY, time: "2026-02-01T10:00:00.000Z" }),
    );
    await store.close();
    await run("--field=body.title");
    expect(printed()).toContain("Names are known since 2026-03-01, and calls for longer");
    await run("--route=GET /books");
    expect(printed().match(/Names are known/g)).toHaveLength(1);
    const again = await openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
    await again.erase({ keys: ["0000000000000004"], command: "test" });
    await again.close();
  });

  test("has six tokens without a name, of one family of user agents, as one client: as the report has them", async () => {
    const tokens = Array.from({ length: 6 }, (_, n) => `00000000000000f${n}`);
    const store = await openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
    for (const client of tokens)
      await store.append(
        sampleRecord(client, { client, route: "GET /shelves", agent: `phone/${client.at(-1)}` }),
      );
    await run("--route=GET /shelves", "--format=json");
    const { clients } = JSON.parse(printed());
    const report = await createReport({
      store,
      pack: loadPack(PACK),
      query: {},
      now: Date.UTC(2026, 2, 5),
      quietDays: 7,
    });
    expect(clients).toMatchObject([{ id: "agent:phone", family: "phone", name: null, calls: 6 }]);
    expect(report.clients.map(({ id }) => id)).toContain(clients[0].id);
    await run("--route=GET /shelves");
    expect(printed()).toContain("1 client would notice: phone");
    await store.erase({ keys: tokens, command: "test" });
    await store.close();
  });

  test("is printed as JSON for programs", async () => {
    expect(await run("--field=body.title", "--format=json")).toBe(1);
    expect(JSON.parse(printed())).toMatchObject({
      clients: [
        { name: "Billing sync", client: "0000000000000001", calls: 2, last: "2026-03-02", routes: [BUY] },
        { name: null, client: "0000000000000002", calls: 1, last: "2026-03-03" },
      ],
      readers: [],
    });
  });

  test.each([
    [["--field=nothing"], "no such field or word"],
    [["--route=GET /nowhere"], "no such route"],
    [[], "give one of"],
    [["--route=GET /books", `--pack=${PACK}`], "give one of"],
    [["--word=state"], "FIELD=WORD"],
    [["--field=state", "--word=state=lent"], "without --field"],
    [["--openapi", "one.json"], "needs two files"],
    [["--field=state", "--format=markdown"], "belongs to"],
    [["--field=state", "--since=yesterday"], "--since"],
    [["--feild=state"], "unknown option"],
    [["--pack=/nowhere"], "AG_PACK"],
  ])("%j can't be answered: exit code 2", async (flags, reason) => {
    expect(await run(...flags)).toBe(2);
    expect(printed()).toContain(reason);
  });
});

/** Another edition of the pack. */
function changePack(file: string, ...changes: readonly (readonly [from: string, to: string])[]): string {
  const changed = mkdtempSync(join(folder, "pack-"));
  cpSync(PACK, changed, { recursive: true });
  let text = readFileSync(join(changed, file), "utf8");
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
    text = text.replace(from, to);
  }
  writeFileSync(join(changed, file), text);
  return changed;
}

describe("another pack", () => {
  test("that is the same affects no client", async () => {
    expect(await run(`--pack=${PACK}`)).toBe(0);
    expect(printed()).toContain("No client is touched by a breaking change.");
  });

  test("that requires a member names all who call, and how often each sends it", async () => {
    const pack = changePack("book.yaml", ["required: [shelf]", "required: [shelf, title]"]);
    expect(await run(`--pack=${pack}`)).toBe(1);
    expect(printed()).toContain("breaking and used: POST /books, body.title becomes required");
    expect(printed()).toContain("Billing sync: 2 calls, the last on 2026-03-02, sends it every day");
    expect(printed()).toContain("0000000000000002: 2 calls, the last on 2026-03-03, sends it on some days");
  });

  test("without a member that no client sends is breaking and unused", async () => {
    const pack = changePack("book.yaml", ["        writer: { type: integer }\n", ""]);
    expect(await run(`--pack=${pack}`)).toBe(0);
    expect(printed()).toContain("breaking and unused: POST /books, body.writer is gone");
  });

  test("with other words and limits touches those who send them, and gives advice to readers", async () => {
    const pack = changePack("pack.yaml", ["{ in: available, out: lent }", "{ in: present, out: lent }"]);
    expect(await run(`--pack=${pack}`, "--format=json")).toBe(1);
    const { changes } = JSON.parse(printed());
    expect(changes).toContainEqual(
      expect.objectContaining({
        operation: "GET /books",
        place: "filter.state",
        word: "available",
        verdict: "breaking and used",
        isExact: true,
        clients: [expect.objectContaining({ client: "0000000000000003", calls: 1, last: "2026-03-04" })],
      }),
    );
    expect(changes).toContainEqual(
      expect.objectContaining({
        operation: "GET /books",
        concern: "readers",
        word: "present",
        verdict: "advice",
      }),
    );
  });

  test("without a route breaks its callers, in Markdown", async () => {
    const pack = changePack("book.yaml", [
      "  - { client: POST /books, scope: books:write, calls: [author], upstream: POST /items, body: buy, response: object }\n",
      "  - { client: POST /books, scope: books:write, reject: unknown_record }\n",
    ]);
    writeFileSync(
      join(pack, "book.yaml"),
      readFileSync(join(pack, "book.yaml"), "utf8").replace(/\nbodies:[^]*?\nroutes:/, "\nroutes:"),
    );
    await run(`--pack=${pack}`, "--format=markdown");
    expect(printed()).toContain("## Who would notice");
    expect(printed()).toContain(
      [
        "- breaking and used: POST /books is gone",
        "  - 0000000000000002: 2 calls, the last on 2026-03-03",
        "  - Billing sync: 2 calls, the last on 2026-03-02",
        "",
      ].join("\n"),
    );
  });
});

/** An edition of the new library's document. */
interface Edition {
  item?: Record<string, unknown>;
  created?: Record<string, unknown>;
  required?: readonly string[];
  paths?: Record<string, unknown>;
  listed?: Record<string, unknown>;
}

const TEXT = { type: "string" };
const ITEM = {
  id: { type: "integer" },
  name: TEXT,
  status: { type: "string", enum: ["in", "out"] },
  colour: TEXT,
};
const CREATED = {
  name: TEXT,
  origin: TEXT,
  author_id: TEXT,
  colour: TEXT,
  location: { type: "object", properties: { shelf_id: TEXT } },
};
const json = (schema: object) => ({ content: { "application/json": { schema } } });

function writeDocument(
  name: string,
  { item = ITEM, created = CREATED, required = [], paths = {}, listed }: Edition = {},
): string {
  const file = join(folder, name);
  const list = listed ?? {
    rows: { type: "array", items: { $ref: "#/components/schemas/Item" } },
    total: { type: "integer" },
  };
  const document = {
    openapi: "3.1.0",
    servers: [{ url: "https://library.example.com/api/new" }],
    paths: {
      "/items": {
        get: { responses: { 200: json({ type: "object", properties: list }) } },
        post: {
          requestBody: json({ type: "object", properties: created, required }),
          responses: { 200: json({ $ref: "#/components/schemas/Item" }) },
        },
      },
      "/places": {
        get: {
          responses: {
            200: json({
              type: "object",
              properties: {
                rows: { type: "array", items: { type: "object", properties: { id: TEXT, room: TEXT } } },
              },
            }),
          },
        },
      },
      "/people/{id}": {
        get: { responses: { 200: json({ type: "object", properties: { banned: { type: "boolean" } } }) } },
      },
      ...paths,
    },
    components: { schemas: { Item: { type: "object", properties: item } } },
  };
  writeFileSync(file, JSON.stringify(document));
  return file;
}

/** The changes as lines: the verdict, the operation, the place, what, and who. */
async function compare(now: Edition): Promise<string[]> {
  const before = printed().length;
  const code = await run(
    "--openapi",
    writeDocument("old.json"),
    writeDocument("new.json", now),
    "--format=json",
  );
  const { changes } = JSON.parse(printed().slice(before));
  const lines = changes.map(
    (change: {
      verdict: string;
      operation: string;
      place: string;
      what: string;
      clients: { client: string }[];
    }) =>
      `${change.verdict}: ${change.operation} ${change.place} ${change.what}: ${change.clients
        .map(({ client }) => client.slice(-1))
        .toSorted()
        .join(" ")}`,
  );
  return [`exit ${code}`, ...lines];
}

const without = (members: Record<string, unknown>, name: string) =>
  Object.fromEntries(Object.entries(members).filter(([key]) => key !== name));

describe("another edition of the new API", () => {
  test.each<[what: string, now: Edition, changes: string[]]>([
    ["that is the same touches nobody", {}, ["exit 0"]],
    [
      "without a member of a body touches those who send what the pack turns into it",
      { created: without(CREATED, "author_id") },
      ["exit 0", "breaking and unused: POST /api/new/items body.author_id is gone: "],
    ],
    [
      "without a member that the gateway adds touches all who call",
      { created: without(CREATED, "origin") },
      ["exit 1", "breaking and used: POST /api/new/items body.origin is gone: 1 2"],
    ],
    [
      "without a member that the pack never sends touches nobody",
      { created: without(CREATED, "colour") },
      ["exit 0", "breaking and unused: POST /api/new/items body.colour is gone: "],
    ],
    [
      "without a nested member touches those who send what the pack turns into it",
      { created: { ...CREATED, location: { type: "object", properties: {} } } },
      ["exit 1", "breaking and used: POST /api/new/items body.location.shelf_id is gone: 1 2"],
    ],
    [
      "with a new required member touches all who call",
      { created: { ...CREATED, tenant: TEXT }, required: ["tenant"] },
      ["exit 1", "breaking and used: POST /api/new/items body.tenant is new and required: 1 2"],
    ],
    [
      "that requires what the gateway adds touches nobody",
      { required: ["name"] },
      ["exit 0", "breaking and unused: POST /api/new/items body.name becomes required: "],
    ],
    [
      "without a member of an answer touches the callers of all routes that show it",
      { item: without(ITEM, "name") },
      [
        "exit 1",
        "breaking and used: GET /api/new/items answer.rows.name is gone: 3",
        "breaking and used: POST /api/new/items answer.name is gone: 1 2",
      ],
    ],
    [
      "without a member that the pack does not read touches nobody",
      { item: without(ITEM, "colour") },
      [
        "exit 0",
        "breaking and unused: GET /api/new/items answer.rows.colour is gone: ",
        "breaking and unused: POST /api/new/items answer.colour is gone: ",
      ],
    ],
    [
      "with a new word in answers is advice",
      { item: { ...ITEM, status: { type: "string", enum: ["in", "out", "lost"] } } },
      [
        "exit 0",
        "advice: GET /api/new/items answer.rows.status may be lost: 3",
        "advice: POST /api/new/items answer.status may be lost: 1 2",
      ],
    ],
    [
      "with another envelope of lists touches all who list",
      { listed: { items: { type: "array", items: { type: "object" } }, total: { type: "integer" } } },
      [
        "exit 1",
        "breaking and used: GET /api/new/items answer.rows is gone: 3",
        "safe: GET /api/new/items answer.items is new: ",
      ],
    ],
    [
      "without the list of a catalog touches the callers of all routes that show it",
      { paths: { "/places": {} } },
      ["exit 1", "breaking and used: GET /api/new/places null is gone: 1 2 3"],
    ],
    [
      "without a call that rules need touches the callers of the route",
      { paths: { "/people/{id}": {} } },
      ["exit 1", "breaking and used: GET /api/new/people/{id} null is gone: 1 2"],
    ],
  ])("%s", async (_what, now, changes) => {
    expect(await compare(now)).toEqual(changes);
  });

  test("is refused if it describes another service, or can't be read", async () => {
    const other = join(folder, "other.json");
    writeFileSync(
      other,
      JSON.stringify({ openapi: "3.1.0", paths: { "/birds": { get: { responses: {} } } } }),
    );
    expect(await run("--openapi", other, other)).toBe(2);
    expect(printed()).toContain("AG_OPENAPI_OTHER_SERVICE");
    expect(await run("--openapi", writeDocument("old.json"), join(folder, "nothing.json"))).toBe(2);
    expect(printed()).toContain("AG_OPENAPI_UNREADABLE");
  });

  test("has no text that becomes markup, or acts on a terminal", async () => {
    const item = { ...ITEM, "<img src=x>|@all\u001b[2J": TEXT };
    await run(
      "--openapi",
      writeDocument("old.json", { item }),
      writeDocument("new.json"),
      "--format=markdown",
    );
    expect(printed()).toContain("rows.&#60;img src=x&#62;&#124;&#64;all");
    expect(printed()).not.toContain("<img");
    await run("--openapi", writeDocument("old.json", { item }), writeDocument("new.json"));
    expect(printed()).not.toContain("\u001b[2J");
  });
});
