import { beforeAll, describe, expect, test } from "@jest/globals";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readExamples } from "../../../src/authoring/examples/example.ts";
import { findLeftOutRows } from "../../../src/authoring/examples/run-examples.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { PACK_FOLDERS } from "../../support/packs.ts";
import { runExamples } from "../../support/run-examples.ts";
import { formatDiagnosticLine, type Diagnostic } from "../../../src/base/files/diagnostic.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { writeSmallPack } from "../../support/small-pack.ts";
import { splitPath } from "../../../src/pack/paths/router.ts";

/** All examples of a pack, and the problems of reading them. */
const examplesOf = (folder: string) => {
  const diagnostics: Diagnostic[] = [];
  const read = readExamples(folder, diagnostics);
  return { ...read, diagnostics, pack: loadPack(folder) };
};

describe.each(PACK_FOLDERS)("the pack in %s", (folder) => {
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

test("a call that a case does not expect is not a catalog read in a pack without credentials", async () => {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries({
    "pack.yaml": "format: 2\nclient: {}\nupstream: {}\n",
    "shelf.yaml":
      `object: shelf\nlist: shelves\nfields: { id: id }\ncatalog: { upstream: [{ request: GET /shelves }], stub: '{ "id": $id }' }\n` +
      'routes: [{ client: "GET /place", upstream: "GET /shelves" }]\n',
    "examples/catalogs.yaml": "GET /shelves: [{ id: a }]\n",
    "examples/place.yaml": "title: A\nrequest: GET /place\nresponse: { body: { id: a } }\n",
  })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const { examples, catalogs, pack } = examplesOf(folder);
  const [found] = await runExamples(pack, examples, catalogs);
  expect(found?.message).toBe("one more upstream request than expected: GET /shelves");
});

test("rows of example catalogs on which an expression fails are reported where it is written", async () => {
  const folder = writeSmallPack({
    book: {
      catalog: { upstream: [{ request: "GET /items" }], stub: "{ 'id': $id }" },
      fields: { id: "id", title: { read: "$number(name)" } },
    },
  });
  const { examples, catalogs, pack } = examplesOf(folder);
  const lists = { ...catalogs, "GET /items": [{ id: "a", name: "one" }] };
  const [found, ...others] = await findLeftOutRows(pack, folder, examples, lists);
  expect(others).toEqual([]);
  expect(found).toMatchObject({ file: join(folder, "book.yaml"), line: 6 });
  expect(found?.message).toMatch(/^the catalog "book" leaves out its row "a": book\.yaml:6/);
});

test("rows of example catalogs without an id are reported at the catalog", async () => {
  const folder = writeSmallPack({
    book: {
      fields: { id: "id", title: "name" },
      catalog: { upstream: [{ request: "GET /items" }], id: "isbn", stub: "{ 'id': $id }" },
    },
  });
  const { examples, catalogs, pack } = examplesOf(folder);
  const lists = { ...catalogs, "GET /items": [{ isbn: "a" }, { id: "b" }, { isbn: 3 }, "c"] };
  expect(await findLeftOutRows(pack, folder, examples, lists)).toEqual([
    expect.objectContaining({
      file: join(folder, "book.yaml"),
      line: 10,
      message: 'the catalog "book" leaves out a row: it has no text "isbn", its id',
    }),
  ]);
});

test("an invalid example is reported with its line and a hint", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "examples"));
  writeFileSync(join(folder, "examples", "a.yaml"), "title: A\nrequest: GET /a\nrespons: { body: {} }\n");
  const diagnostics: Diagnostic[] = [];
  expect(readExamples(folder, diagnostics).examples).toEqual([]);
  expect(diagnostics.map(({ line, message, hint }) => [line, message, hint])).toEqual([
    [3, 'unknown key "respons"', expect.stringContaining('did you mean "response"?')],
  ]);
});

test.each([
  ["request", "request: 'GET /a?q=b c'", 2],
  ["upstream request", "request: GET /a\nupstream: [{ request: 'GET /b?q=b c' }]", 3],
])("white space in the %s of an example is reported: nothing after it is ignored", (_where, lines, line) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "examples"));
  writeFileSync(join(folder, "examples", "a.yaml"), `title: A\n${lines}\nresponse: { body: {} }\n`);
  const diagnostics: Diagnostic[] = [];
  expect(readExamples(folder, diagnostics).examples).toEqual([]);
  expect(diagnostics.map((found) => [found.line, found.message])).toEqual([
    [line, expect.stringContaining("white space in a query is written as %20")],
  ]);
});

describe("an example that fails", () => {
  const { examples, catalogs, pack } = examplesOf("examples/library/pack");
  const first = examples.find(({ definition }) => definition.title.startsWith("One object"));
  if (!first) throw new Error("the example is gone");
  const withHeaders = (headers: object) =>
    first.definition.upstream.map((call, index) => (index === 0 ? { ...call, headers } : call));
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
      "GET /more was not sent",
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
    [
      "another header of a call",
      { headers: { Authorization: "key k" }, upstream: withHeaders({ Authorization: "Token other" }) },
      'upstream header Authorization is "Token k", expected "Token other"',
    ],
    [
      "a header that a call should not have",
      { headers: { Authorization: "key k" }, upstream: withHeaders({ authorization: null }) },
      'upstream header authorization is "Token k", expected none',
    ],
    [
      "a header that the response does not have",
      { response: { ...first.definition.response, headers: { "X-Missing": "1" } } },
      'header X-Missing is missing, expected "1"',
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

describe("a wrong upstream request", () => {
  const CASE = `title: A
request: GET /books/7
upstream:
  - request: GET /items/7
    response: { body: { id: 7, name: Emma, size: 1 } }
`;
  const messagesOf = async (text: string, routes: readonly object[]) => {
    const folder = writeSmallPack({ book: { routes } });
    mkdirSync(join(folder, "examples"));
    writeFileSync(join(folder, "examples", "a.yaml"), text);
    const { examples, catalogs, pack } = examplesOf(folder);
    return (await runExamples(pack, examples, catalogs)).map(({ message }) => message);
  };

  test("is the only problem: the response that follows from it is not compared", async () => {
    const text = `${CASE}response: { headers: { X-A: b }, body: { id: 8, title: Anna } }\n`;
    expect(await messagesOf(text, [{ client: "GET /books/:id", upstream: "GET /things/{id}" }])).toEqual([
      'upstream request is "GET /things/7", expected "GET /items/7"',
    ]);
  });

  test("does not hide the status of a rejected request", async () => {
    const text = `${CASE}response: { body: { id: 7, title: Emma } }\n`;
    const routes = [{ client: "GET /books/:id", upstream: "GET /items/{id}", when: "$path.id != '7'" }];
    const other = { client: "GET /books/:id", upstream: "GET /x/{id}", when: "$path.id = '8'" };
    expect(await messagesOf(text, [...routes, other])).toEqual([
      "GET /items/7 was not sent",
      expect.stringContaining("status is 404, expected 200"),
    ]);
  });

  test("that comes before the expected ones is named as the one too many", async () => {
    const text = `${CASE}response: { body: { id: 7, title: Emma } }\n`;
    const call = { name: "shelf", at: "before", upstream: "GET /shelves/{id}" };
    const routes = [{ client: "GET /books/:id", upstream: "GET /items/{id}", calls: [call] }];
    expect(await messagesOf(text, routes)).toEqual([
      "one more upstream request than expected: GET /shelves/7",
    ]);
  });
});

describe("the token of a golden case", () => {
  const credentials = { header: "X-Key", or: [{ query: "key" }] };
  const messagesOf = async (request: string, upstreamHeaders: string) => {
    const folder = writeSmallPack({
      client: { credentials },
      upstream: { credentials: { scheme: "Bearer" } },
      book: { routes: [{ client: "GET /books/:id", upstream: "GET /items/{id}", scope: "public" }] },
    });
    mkdirSync(join(folder, "examples"));
    const text = `title: A\n${request}\nupstream: [{ request: GET /items/7, headers: ${upstreamHeaders}, response: { body: { id: 7, name: a } } }]\nresponse: { body: { id: 7, title: a } }\n`;
    writeFileSync(join(folder, "examples", "a.yaml"), text);
    const { examples, catalogs, pack } = examplesOf(folder);
    return (await runExamples(pack, examples, catalogs)).map(({ message }) => message);
  };

  test.each([
    ["is added if the request has none", "request: GET /books/7", "{ Authorization: Bearer example-1 }"],
    ["is the request's in another place", "request: GET /books/7?key=k", "{ Authorization: Bearer k }"],
    [
      "is not added to a header that is null",
      "request: GET /books/7\nheaders: { x-key: null }",
      "{ Authorization: null }",
    ],
  ])("%s", async (_case, request, headers) => {
    expect(await messagesOf(request, headers)).toEqual([]);
  });
});

describe("T-12.1 losses of the shipped pack", () => {
  const { examples, pack } = examplesOf("mappings");
  const stated = examples.flatMap(({ definition: { request, losses } }) => {
    const [method = "", path = ""] = request.split(" ");
    const segments = splitPath(path.split("?", 1)[0] ?? "")?.slice(path.startsWith("/v4/") ? 1 : 0) ?? [];
    const routes = pack.match(method, segments)?.routes ?? [];
    return losses === undefined ? [] : [{ objects: new Set(routes.map(({ object }) => object)), losses }];
  });
  const lossy = [...pack.resources.values()].flatMap((resource) => {
    const inherited = pack.resources.get(resource.extends ?? "")?.losses.map(({ text }) => text) ?? [];
    return [...new Map([...resource.members, ...resource.fields])]
      .map(([name, rule]) => ({ loss: `${name}: ${rule.loss}`, rule }))
      .filter(({ loss, rule }) => rule.loss !== undefined && !inherited.includes(loss))
      .map(({ loss, rule }) => [resource.name, loss, rule.loss_when] as const);
  });
  // No response shows these.
  const visible = lossy.filter(([, , when]) => when !== "false");

  test("are visible in a response, except one", () => expect(lossy.length - visible.length).toBe(1));

  test.each(visible)('%s has golden cases with and without the loss "%s"', (object, loss) => {
    const cases = stated.filter(({ objects }) => objects.has(object));
    expect(cases.some(({ losses }) => losses.includes(loss))).toBe(true);
    expect(cases.some(({ losses }) => !losses.includes(loss))).toBe(true);
  });

  test("a golden case states only losses that its route may have", () => {
    const possible = new Set(pack.routes.flatMap(({ losses }) => losses.map(({ text }) => text)));
    const others = stated.flatMap(({ losses }) => losses).filter((loss) => !possible.has(loss));
    expect(others.filter((loss) => !/: v4 did not give (it|all)$/.test(loss))).toEqual([]);
  });
});
