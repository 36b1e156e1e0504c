import { beforeAll, describe, expect, test } from "vitest";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readExamples } from "../../../../src/tools/examples/example.ts";
import { runExamples } from "../../../../src/tools/examples/run-examples.ts";
import { formatDiagnosticLine, type Diagnostic } from "../../../../src/mapping/load/diagnostic.ts";
import { loadPack } from "../../../../src/mapping/load/load-pack.ts";

/** All examples of a pack, and what was wrong with reading them. */
const examplesOf = (folder: string) => {
  const diagnostics: Diagnostic[] = [];
  const read = readExamples(folder, diagnostics);
  return { ...read, diagnostics, pack: loadPack(folder) };
};

describe.each([
  "mappings",
  "test/fixtures/library-pack",
  "test/fixtures/smallest-pack",
  "test/fixtures/shop-pack",
])("the pack in %s", (folder) => {
  const { examples, catalogs, diagnostics, pack } = examplesOf(folder);

  test("its examples are valid", () => expect(diagnostics.map(formatDiagnosticLine)).toEqual([]));

  // All in one run, as `check` does; each is a test, so that a failure names its example.
  let found: Diagnostic[] = [];
  beforeAll(async () => {
    found = await runExamples(pack, examples, catalogs);
  });

  test.each(examples.map((example) => [example.definition.title, example.source.file] as const))(
    "%s",
    (_title, file) => {
      expect(found.filter((diagnostic) => diagnostic.file === file).map(formatDiagnosticLine)).toEqual([]);
    },
  );

  test("all diagnostics are in the examples", () => {
    const files = new Set(examples.map(({ source }) => source.file));
    expect(files.size).toBe(examples.length);
    expect(found.filter(({ file }) => !files.has(file)).map(formatDiagnosticLine)).toEqual([]);
  });

  test("has an example for every route", () => {
    const displayed = new Set(
      examples.flatMap(({ definition }) => {
        const [method = "", path = ""] = definition.request.split(" ");
        const segments = path.split("?")[0]?.split("/").filter(Boolean).map(decodeURIComponent) ?? [];
        return pack.match(method, segments)?.routes.map(({ name }) => name) ?? [];
      }),
    );
    expect(pack.routes.map(({ name }) => name).filter((name) => !displayed.has(name))).toEqual([]);
  });
});

test("an invalid example is reported with its line and a hint", () => {
  const folder = mkdtempSync(join(tmpdir(), "pack-"));
  try {
    mkdirSync(join(folder, "examples"));
    writeFileSync(join(folder, "examples", "a.yaml"), "title: A\nrequest: GET /a\nrespons: { body: {} }\n");
    const diagnostics: Diagnostic[] = [];
    expect(readExamples(folder, diagnostics).examples).toEqual([]);
    expect(diagnostics.map(({ line, message, hint }) => [line, message, hint])).toEqual([
      [3, 'unknown key "respons"', expect.stringContaining('did you mean "response"?')],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe("an example that fails", () => {
  const { examples, catalogs, pack } = examplesOf("test/fixtures/library-pack");
  const first = examples.find(({ definition }) => definition.title.startsWith("One object"));
  if (!first) throw new Error("the example is gone");
  const broken = (change: object) => ({ ...first, definition: { ...first.definition, ...change } });

  test.each([
    ["another status", { response: { status: 404, body: {} } }, "status is 200, expected 404"],
    [
      "another member",
      { response: { status: 200, body: { number: 7 } } },
      'body.title is "Waves", expected nothing',
    ],
    [
      "a call that is not made",
      { upstream: [...first.definition.upstream, { request: "GET /more", response: { status: 200 } }] },
      "1 expected upstream requests were not sent",
    ],
    [
      "a call too many",
      { upstream: first.definition.upstream.slice(0, 1) },
      "one more upstream request than expected: GET",
    ],
    [
      "another call",
      { upstream: [{ request: "GET /items/8", response: { status: 200, body: {} } }] },
      'upstream request is "GET /api/new/items/7"',
    ],
  ])("%s is reported with file, line and column", async (_case, change, message) => {
    const [diagnostic] = await runExamples(pack, [broken(change)], catalogs);
    expect(diagnostic && formatDiagnosticLine(diagnostic)).toContain(message);
    expect(diagnostic).toMatchObject({
      file: expect.stringContaining("read.yaml"),
      line: expect.any(Number),
      column: expect.any(Number),
    });
  });
});
