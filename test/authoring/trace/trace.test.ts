/** `explain --trace` and `check --trace`: what is shown of a request. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import type { TracedNode } from "../../../src/jsonata/index.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import type { Pack } from "../../../src/pack/load/pack.ts";
import { compareExamples } from "../../../src/authoring/examples/run-examples.ts";
import { readExamples } from "../../../src/authoring/examples/example.ts";
import { MAX_EXPRESSIONS, MAX_NODES } from "../../../src/authoring/trace/trace.ts";
import { traceRecord } from "../../../src/authoring/trace/trace-request.ts";
import { Tracer } from "../../../src/authoring/trace/tracer.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { captureCommands } from "../../support/command-output.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

const printed = captureCommands();

const PACK = {
  client: { base_path: "/v1", filters: { header: "X-Filter" } },
  upstream: { base_path: "/api", filters: { header: "X-Filter" } },
  pack: {
    values: {
      state: { read: { LENT: "out", HOME: "in" } },
      code: { read: "$uppercase($value)", write: "$lowercase($value)" },
    },
    secrets: ["pin"],
  },
  book: {
    fields: {
      id: "id",
      title: "name",
      state: { upstream: "status", values: "state", filter: true },
      is_out: { read: '$values("state", status) = "out" ? true : $exists(due)' },
      pages: { read: "$sum(chapters.pages)" },
      hint: { read: 'pin & "!"' },
      door: { upstream: "pin", read: "$substring($value, 0, 2)" },
      note: { read: 'owner.name & " " & title' },
      owners: { read: '$join($map(owner.*, function($v) { $uppercase($v) }), "-")' },
      tag: { upstream: "tag", values: "code" },
      last: { read: "($all := owner.*; $uppercase($all[1]))" },
    },
    routes: [
      { client: "GET /books/:id", upstream: "GET /items/{id}" },
      { client: "GET /books", upstream: "GET /items", response: "list" },
    ],
  },
};

const ITEM = {
  id: 7,
  name: "Emma",
  status: "LENT",
  chapters: [{ pages: 10 }, { pages: 32 }],
  pin: "k3y-9981",
  owner: { name: "Jane", pin: "0-secret-0" },
  tag: "abc",
};

let pack: string;
beforeEach(() => {
  pack = writeSmallPack(PACK);
});

const write = (name: string, content: unknown): string => {
  mkdirSync(join(pack, "examples", "book"), { recursive: true });
  const file = join(pack, name);
  writeFileSync(file, typeof content === "string" ? content : stringify(content));
  return file;
};

/** What a command prints, and its exit code. */
async function run(...args: string[]): Promise<{ readonly code: number | undefined; readonly out: string }> {
  const before = printed().length;
  const code = await runCommandLine([...args, "--mappings-dir", pack]);
  return { code, out: printed().slice(before) };
}

const traceItem = (item: object = ITEM) =>
  run("explain", "--trace", "GET /books/7", "--response", write("item.txt", JSON.stringify(item)));

describe("explain --trace prints", () => {
  test("each field with its value, its source and its rule", async () => {
    const { out, code } = await traceItem();
    expect(out).toContain("GET /v1/books/7\nroute GET /books/:id, status 200\n");
    expect(out).toContain('  title = "Emma"  <- name = "Emma"  (from name)\n');
    expect(out).toContain(
      '  state = "out"  <- status = "LENT"  (from status, mapped by the value table state)\n',
    );
    expect(code).toBe(0);
  });

  test("each sub-expression with its value and place, the row of a table, and the branch that was taken", async () => {
    const { out } = await traceItem();
    expect(out).toContain(
      [
        "book.yaml:11  fields.is_out.read",
        '  $values("state", status) = "out" ? true : $exists(due) = true  (at 1)',
        '  ├─ $values("state", status) = "out" = true  (at 1)',
        '  │  └─ $values("state", status) = "out"  (at 1)',
        '  │     │  ▸ row "LENT" of the table "state": "out"',
        '  │     └─ status = "LENT"  (at 18)',
        "  └─ then: true = true  (at 36)",
        "",
      ].join("\n"),
    );
  });

  test("that a table has no row, and the other branch", async () => {
    const { out } = await traceItem({ ...ITEM, status: "SOLD", due: "2026-01-01" });
    expect(out).toContain('▸ row "SOLD" of the table "state": there is none');
    expect(out).toContain("└─ else: $exists(due) = true  (at 43)");
  });

  test("where an expression failed", async () => {
    const { out, code } = await traceItem({ ...ITEM, chapters: [{ pages: "x" }] });
    expect(out).toContain("  $sum(chapters.pages) = failed  (at 1)\n");
    expect(out).toMatch(/ error: .*pages/);
    expect(code).toBe(1);
  });

  test("the conditions of a filter in the words of both sides", async () => {
    const { out } = await run("explain", "--trace", "GET /books", "-H", 'X-Filter: {"state": "in"}');
    expect(out).toContain('filter\n  state: "in" -> status: "HOME"  (by the value table state)\n');
  });

  test("that a response on the command line is not JSON", async () => {
    const { out, code } = await run(
      "explain",
      "--trace",
      "GET /books/7",
      "--response",
      write("item.txt", "{"),
    );
    expect({ code, out }).toEqual({
      code: 1,
      out: expect.stringContaining("--response is not valid JSON"),
    });
  });
});

describe("a value that comes from a secret", () => {
  const hidden = "[redacted: it comes from a secret]";

  test("is redacted in each node that it reaches, and in the field", async () => {
    const { out } = await traceItem();
    expect(out).toContain(`  pin & "!" = ${hidden}  (at 1)\n  └─ pin = ${hidden}  (at 1)\n`);
    expect(out).toContain(`  hint = ${hidden}`);
    // The value of a field of the upstream that is a secret has no name in the expression.
    expect(out).toContain(`  $substring($value, 0, 2) = ${hidden}  (at 1)\n`);
    expect(out).toContain(`  door = ${hidden}`);
  });

  test("is redacted where a function takes the members of an object, whatever their names are", async () => {
    const { out } = await traceItem();
    expect(out).toContain(`= ${hidden}  (at 1)`);
    expect(out).toContain(`  owners = ${hidden}`);
    expect(out).toContain(`$uppercase($v)`);
    // A variable has no name that says what is in it.
    expect(out).toContain(`$uppercase($all[1]) = ${hidden}`);
    for (const part of ["9981", "k3", "0-secret-0", "0-SECRET-0"]) expect(out).not.toContain(part);
  });

  test("does not hide what comes from other members", async () => {
    const { out } = await traceItem();
    expect(out).toContain('  └─ owner.name = "Jane"');
    expect(out).toContain('  note = "Jane "');
  });
});

describe("check --trace prints", () => {
  const golden = (title: string) => ({
    title: "One book",
    request: "GET /books/7",
    upstream: [{ request: "GET /items/7", response: { body: { id: 7, name: "Emma", status: "HOME" } } }],
    response: { body: { id: 7, title, state: "in", is_out: false } },
  });

  test("the trace of a golden case, and what differs", async () => {
    const file = write("examples/book/read.yaml", golden("Emmy"));
    const { out, code } = await run("check", pack, "--trace", file);
    expect(out).toContain(
      '  state = "in"  <- status = "HOME"  (from status, mapped by the value table state)\n',
    );
    expect(out).toContain('body.title is "Emma", expected "Emmy"');
    expect(code).toBe(1);
  });

  test("that a file is no golden case", async () => {
    write("examples/book/read.yaml", golden("Emma"));
    const { out, code } = await run("check", pack, "--trace", "other.yaml");
    expect(out).toContain("other.yaml is no golden case of the pack");
    expect(code).toBe(1);
  });
});

describe("a trace of a record", () => {
  const record = (change: Partial<AuditRecord["alpha"]> = {}): AuditRecord => {
    const sample = sampleRecord("one", { route: "GET /books/:id" });
    return {
      ...sample,
      alpha: {
        ...sample.alpha,
        method: "GET",
        path: "/v1/books/7",
        query: "",
        filter: null,
        status: 200,
        response: { id: 7, title: "Emma", state: "out" },
        ...change,
      },
      v4: [{ method: "GET", path: "/api/items/7", filter: null, status: 200, ms: 1, response: ITEM }],
    };
  };
  const load = (): Pack => loadPack(pack);

  test("by its id runs the request again, with the recorded responses", async () => {
    const stored = record();
    const store = await openSqliteStore({
      directory: pack,
      durability: "strict",
      retentionDays: 36_500,
      sizeLimit: 1e12,
    });
    await store.append(stored);
    await store.close();
    const { out, code } = await run("explain", "--trace", stored.id, "--data-dir", pack);
    expect(out).toContain("  $sum(chapters.pages) = 42  (at 1)\n  └─ chapters.pages = [10,32]  (at 6)\n");
    expect(code).toBe(0);
  });

  test("says that the response differs from the recorded one", async () => {
    expect((await traceRecord(record(), load, {})).notes.join()).toMatch(/differs from the recorded one/);
    expect((await traceRecord(record({ status: 404 }), load, {})).notes.join()).toMatch(/The status was 404/);
  });

  test("of a request that was not translated has its fields only", async () => {
    const native = await traceRecord({ ...record(), lane: "native" }, load, {});
    expect(native).toMatchObject({
      expressions: [],
      notes: [expect.stringMatching(/Nothing was translated/)],
    });
  });

  test("has a bounded number of evaluations, and says how many are left out", async () => {
    const items = Array.from({ length: 500 }, (_, id) => ({ ...ITEM, id, tag: `t${id}` }));
    const list = record({ path: "/v1/books", route: "GET /books", response: [] });
    const calls = [{ ...list.v4[0], path: "/api/items", response: items }] as AuditRecord["v4"];
    const { expressions, notes } = await traceRecord({ ...list, v4: calls }, load, {});
    expect(expressions.length).toBe(MAX_EXPRESSIONS);
    expect(notes.join()).toMatch(/\d+ more evaluations of expressions are left out/);
  });

  test("has a bounded number of sub-expressions in all of its evaluations", async () => {
    const owners = { read: '$map(owner.*, function($v) { $uppercase($v & "!") })' };
    pack = writeSmallPack({ ...PACK, book: { ...PACK.book, fields: { id: "id", owners } } });
    const owner = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`name${n}`, `Jane ${n}`]));
    const items = Array.from({ length: 60 }, (_, id) => ({ ...ITEM, id, owner }));
    const list = record({ path: "/v1/books", route: "GET /books", response: [] });
    const calls = [{ ...list.v4[0], path: "/api/items", response: items }] as AuditRecord["v4"];
    const { expressions, notes } = await traceRecord({ ...list, v4: calls }, load, {});
    const count = (nodes: readonly TracedNode[]): number =>
      nodes.reduce((sum, { children }) => sum + 1 + count(children), 0);
    expect(expressions.reduce((sum, { nodes }) => sum + count(nodes), 0)).toBe(MAX_NODES);
    expect(notes).toContain("Sub-expressions after the first 5000 are left out.");
  });
});

describe("a pack in its traced form gives what the pack gives", () => {
  test.each(["mappings", "examples/library/pack"])("in each golden case of %s", async (folder) => {
    const { examples, catalogs } = readExamples(folder, []);
    const tracer = new Tracer(() => loadPack(folder));
    const { result, evaluated } = await tracer.record(() => compareExamples(tracer.pack, examples, catalogs));
    expect(result.flatMap(({ differences }) => differences)).toEqual([]);
    expect(evaluated.expressions.length).toBeGreaterThan(10);
  });
});
