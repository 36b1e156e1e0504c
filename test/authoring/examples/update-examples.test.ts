/** `check --update`: golden cases get the actual results; comments and the form of their files stay. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { parse, parseDocument } from "yaml";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { printDocument, setValue } from "../../../src/authoring/examples/edit-yaml.ts";
import { expandRepeats, readExamples } from "../../../src/authoring/examples/example.ts";
import { compareExamples } from "../../../src/authoring/examples/run-examples.ts";
import { runExamples } from "../../support/run-examples.ts";
import { updateExamples, type UpdatedExample } from "../../../src/authoring/examples/update-examples.ts";
import { withPack, type Edit } from "../../pack/load/pack-folder.ts";

function edit(text: string, is: unknown): string {
  const document = parseDocument(text);
  setValue(document, ["body"], is);
  return printDocument(document);
}

describe("a changed value in a YAML file", () => {
  const BLOCK = `# first
body:
  id: 7 # the id
  # about names
  name: data
  place: { id: newark, label: "Newark, NJ" } # flow
  list: [1, 2]
  nested:
    x: 1

    # trailing
  owner: null
  empty:
# last
`;

  test("keeps comments, quotes, order and form around it", () => {
    const is = {
      id: 8,
      name: "data",
      added: "a: b",
      place: { id: "newark", label: "Newark, NJ", country: "us" },
      list: [1, 3],
      nested: { x: 1, y: 2 },
      owner: null,
      empty: 5,
    };
    expect(edit(BLOCK, is)).toBe(`# first
body:
  id: 8 # the id
  # about names
  name: data
  added: "a: b"
  place: { id: newark, label: "Newark, NJ", country: us } # flow
  list: [1, 3]
  nested:
    x: 1
    y: 2
    # trailing
  owner: null
  empty: 5 # last
`);
  });

  test("in a list with repeats changes the template where all items change alike", () => {
    const text = `body:\n  - { repeat: 3, of: { id: "{n}", name: "v{n}" } } # many\n  - a: 1\n    b: 2\n`;
    const is = [1, 2, 3]
      .map((n): object => ({ id: n, isNew: false, name: `v${n}` }))
      .concat([{ b: 2, c: 3 }]);
    const changed = edit(text, is);
    expect(changed).toBe(
      `body:\n  - { repeat: 3, of: { id: "{n}", isNew: false, name: "v{n}" } } # many\n  - b: 2\n    c: 3\n`,
    );
    expect(expandRepeats(parse(changed).body)).toEqual(is);
  });

  test.each<[string, string, unknown]>([
    [
      "all items of a repeat, each in another way",
      `body: [{ repeat: 2, of: { id: "{n}" } }, { id: 9 }]\n`,
      [{ id: 4 }, { id: 7 }, { id: 9 }],
    ],
    [
      "items of a repeat in a block",
      `body:\n  - repeat: 2\n    of: { id: "{n}" }\n  - { id: 9 }\n`,
      [{ id: 4 }, { id: 7 }, { id: 9 }],
    ],
    ["the first, a middle and the last member", BLOCK, { name: "x", list: [], nested: { x: 1 }, owner: 1 }],
    ["members at the start and at the end", BLOCK, { first: 1, ...parse(BLOCK).body, last: { a: [1] } }],
    ["the only member", "body:\n  a: 1\n", { b: 1 }],
    ["an empty object", "body: {}\n", { a: 1 }],
    ["to an empty object", "body:\n  a: 1\n# end\n", {}],
    ["a block of text", "body:\n  text: |\n    one\n    two\n  z: 1\n", { text: "three", z: 1 }],
    [
      "behind a block of text, without a last line break",
      "body:\n  text: |\n    one\n  z: 1",
      { text: "one\n", y: 2, z: 1, zz: 2 },
    ],
    ["to another type", BLOCK, [1, { a: "x, y" }]],
    ["of a cycle", "body: { a: { cycle: [1, 2] } }\n", { a: 3 }],
  ])("is what was asked for: %s", (_what, text, is) => {
    const changed = parseDocument(edit(text, is));
    expect(changed.errors).toEqual([]);
    expect(expandRepeats(changed.toJS().body)).toEqual(is);
  });
});

describe("check --update after a change of the pack", () => {
  async function update(edits: readonly Edit[]): Promise<{
    updated: UpdatedExample[];
    remaining: string[];
    textOf(file: string): string;
  }> {
    const texts = new Map<string, string>();
    const { updated, remaining } = await withPack(edits, async (folder) => {
      const pack = loadPack(folder);
      const { examples, catalogs } = readExamples(folder, []);
      const changes = updateExamples(await compareExamples(pack, examples, catalogs));
      const after = readExamples(folder, []);
      for (const { source } of after.examples)
        texts.set(source.file.slice(folder.length + 1), readFileSync(source.file, "utf8"));
      const problems = await runExamples(pack, after.examples, after.catalogs);
      return { updated: changes, remaining: problems.map(({ message }) => message) };
    });
    return { updated, remaining, textOf: (file) => texts.get(`examples/${file}`) ?? "" };
  }

  test.each([
    ["in a block", "title: a\nresponse: {}\nlosses: []\n"],
    ["at the end", "title: a\nresponse: {}"],
    ["on a line of its own", "title: a\nresponse:\n  {}\n# end\n"],
  ])("an empty response %s gets a status and a body", (_where, text) => {
    const document = parseDocument(text);
    setValue(document, ["response", "status"], 400);
    setValue(document, ["response", "body"], { message: "No." });
    const { response, ...others } = parse(printDocument(document));
    const { response: _was, ...before } = parse(text);
    expect(response).toEqual({ status: 400, body: { message: "No." } });
    expect(others).toEqual(before);
  });

  test("a field that is added is in all cases that show it, and the difference is printed", async () => {
    const { updated, remaining, textOf } = await update([
      { file: "book.yaml", from: "  number: id\n", to: "  number: id\n  colour: { const: red }\n" },
    ]);
    expect(remaining).toEqual([]);
    expect(updated.length).toBeGreaterThan(2);
    expect(textOf("book/create.yaml")).toContain(
      "  body: { number: 8, colour: red, title: Tides, state: available,",
    );
    const { difference = "" } = updated.find(({ file }) => file.endsWith("book/create.yaml")) ?? {};
    expect(difference).toMatch(
      /^- {3}body: \{ number: 8, title: Tides.*\n\+ {3}body: \{ number: 8, colour: red, title/,
    );
  });

  test("changed v4 requests are expected: path, filter and body", async () => {
    const { remaining, textOf } = await update([
      { file: "book.yaml", from: "title:  { upstream: name", to: "title:  { upstream: title" },
      { file: "book.yaml", from: "upstream: POST /items", to: "upstream: POST /stock" },
    ]);
    expect(remaining).toEqual([]);
    expect(textOf("book/create.yaml")).toContain("request: POST /stock");
    expect(textOf("book/create.yaml")).toMatch(/body: \{ secret_pin: "1234", title: Tides/);
  });

  test("a status that changed is written, also where 200 was not", async () => {
    const { textOf } = await update([
      {
        file: "book.yaml",
        from: "title: { type: string, maxLength: 9 }",
        to: "title: { type: string, maxLength: 2 }",
      },
    ]);
    expect(parse(textOf("book/create.yaml"))).toMatchObject({
      response: {
        status: 400,
        body: { problems: [{ at: "title", text: "Must be at most 2 characters long." }] },
      },
    });
  });

  test("a response that was written as {} gets the actual status and body", async () => {
    const response = "response:\n  body: { number: 7";
    const { remaining, textOf } = await update([
      { file: "examples/book/read.yaml", from: response, to: "response: {}\n# was\n#  body: { number: 7" },
    ]);
    expect(remaining).toEqual([]);
    expect(parse(textOf("book/read.yaml"))).toMatchObject({ response: { body: { number: 7 } } });
  });

  test("a pack that fails never becomes what is expected", async () => {
    const { updated, remaining } = await update([
      { file: "book.yaml", from: "number: id", to: "number: { read: 'name + 1' }" },
    ]);
    expect(updated.filter(({ file }) => file.includes("read"))).toEqual([]);
    expect(remaining).toContainEqual(expect.stringContaining("book.yaml:6: fields.number.read"));
  });

  test("a changed header is written, and a removed header as null", async () => {
    const { remaining, textOf } = await update([
      { file: "pack.yaml", from: "upstream_header: X-New-Call", to: "upstream_header: X-Other" },
      {
        file: "examples/book/read.yaml",
        from: "response:\n  body: { number: 7",
        to: "response:\n  headers: { X-New-Call: GET /api/new/items/7, X-Other: a }\n  body: { number: 7",
      },
    ]);
    expect(remaining).toEqual([]);
    expect(textOf("book/read.yaml")).toContain(
      "headers: { X-New-Call: null, X-Other: GET /api/new/items/7 }",
    );
  });

  test("a file that needs no change is not written", async () => {
    expect((await update([])).updated).toEqual([]);
  });
});

test("a file with a comment in every place keeps them all", () => {
  const text = "# a\nbody: # b\n  # c\n  x: 1 # d\n  # e\n  y: 2 # f\n# g\n";
  const changed = edit(text, { x: 3, y: 4, z: 5 });
  expect(changed.match(/# \w/g)).toEqual(["# a", "# b", "# c", "# d", "# e", "# f", "# g"]);
  expect(parse(changed).body).toEqual({ x: 3, y: 4, z: 5 });
});
