/** OpenAPI documents come from anywhere: whatever is in them, they are read or end with one error. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { UnreadableDocumentError } from "../../../src/migration/impact/flatten-schema.ts";
import { openapiSurface } from "../../../src/migration/impact/openapi-surface.ts";
import { readOpenapi } from "../../../src/migration/impact/read-openapi.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";

let folder: string;
beforeEach(() => {
  folder = join(temporaryFolder(), "documents");
  mkdirSync(folder);
});

const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

/** A document whose only answer has a schema. */
const documentWith = (schema: unknown, more: object = {}): string =>
  JSON.stringify({
    openapi: "3.0.3",
    paths: { "/books": { get: { responses: { 200: { content: { "application/json": { schema } } } } } } },
    ...more,
  });

const placesOf = async (file: string): Promise<string[]> => [
  ...(openapiSurface(await readOpenapi(file))
    .get("GET /books")
    ?.answer.keys() ?? []),
];

describe("a document is read", () => {
  test("with the path of its server, whose variables have their defaults", async () => {
    const servers = [
      {
        url: "{host}/{edition}",
        variables: { host: { default: "https://example.com" }, edition: { default: "v2" } },
      },
    ];
    const surface = openapiSurface(await readOpenapi(write("api.json", documentWith({}, { servers }))));
    expect([...surface.keys()]).toEqual(["GET /v2/books"]);
  });

  test("as YAML, with references to other files of its folder", async () => {
    mkdirSync(join(folder, "parts"));
    write("parts/book.yaml", "type: object\nproperties: { title: { $ref: 'text.json#/text' } }\n");
    write("parts/text.json", '{ "text": { "type": "string" } }');
    const file = write(
      "api.yaml",
      "openapi: 3.1.0\npaths:\n  /books:\n    get:\n      responses:\n        '200': { content: { application/json: { schema: { $ref: parts/book.yaml } } } }\n",
    );
    expect(await placesOf(file)).toEqual(["answer", "answer.title"]);
  });

  test("with schemas that refer to themselves and to each other", async () => {
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    const schemas = {
      Book: { type: "object", properties: { shelf: ref("Shelf"), next: ref("Book") } },
      Shelf: { type: "object", properties: { books: { type: "array", items: ref("Book") } } },
    };
    expect(await placesOf(write("api.json", documentWith(ref("Book"), { components: { schemas } })))).toEqual(
      expect.arrayContaining(["answer", "answer.shelf", "answer.next", "answer.shelf.books"]),
    );
  });
});

describe("a document is refused", () => {
  /** Why a document is refused. */
  const refusal = async (file: string): Promise<string> => {
    const error: unknown = await readOpenapi(file)
      .then(openapiSurface)
      .catch((reason: unknown) => reason);
    return error instanceof UnreadableDocumentError ? error.message : `not refused: ${String(error)}`;
  };

  test("that is not an OpenAPI 3 document", async () => {
    expect(await refusal(write("old.json", '{ "swagger": "2.0", "paths": {} }'))).toMatch(
      /no OpenAPI 3 document/,
    );
    expect(await refusal(write("list.yaml", "- a\n"))).toMatch(/no OpenAPI 3 document/);
  });

  test("that does not exist, is a folder, or is neither JSON nor YAML", async () => {
    expect(await refusal(join(folder, "nothing.json"))).toMatch(/ENOENT/);
    expect(await refusal(folder)).toMatch(/not a file/);
    expect(await refusal(write("api.json", '{ "openapi": '))).toMatch(/can't be read/);
    expect(await refusal(write("api.yaml", "a: [1\nb: }"))).toMatch(/can't be read/);
  });

  test("that has 50 MB", async () => {
    expect(
      await refusal(write("large.json", documentWith({ description: "a".repeat(50 * 1024 * 1024) }))),
    ).toMatch(/more than 24 MB/);
  });

  test("that is nested deep, in JSON and in YAML", async () => {
    const deep = `${'{"properties":{"a":'.repeat(5000)}{}${"}}".repeat(5000)}`;
    expect(
      await refusal(write("deep.json", documentWith({}).replace('"schema":{}', `"schema":${deep}`))),
    ).toMatch(/nested/);
    expect(
      await refusal(write("deep.yaml", `openapi: 3.0.0\npaths: ${"[".repeat(20_000)}${"]".repeat(20_000)}`)),
    ).toMatch(/nested|can't be read/);
  });

  test("whose references lead nowhere, to themselves, or stand for too many schemas", async () => {
    expect(await refusal(write("a.json", documentWith({ $ref: "#/components/nothing" })))).toMatch(/nothing/);
    const loop = {
      components: {
        schemas: { A: { $ref: "#/components/schemas/B" }, B: { $ref: "#/components/schemas/A" } },
      },
    };
    const first = { $ref: "#/components/schemas/A" };
    expect(await refusal(write("loop.json", documentWith(first, loop)))).toMatch(/leads to itself/);
    const schemas = Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [
        `Level${level}`,
        { anyOf: [1, 2].map(() => ({ $ref: `#/components/schemas/Level${level + 1}` })) },
      ]),
    );
    const many = { components: { schemas: { ...schemas, Level40: { type: "string" } } } };
    expect(
      await refusal(write("many.json", documentWith({ $ref: "#/components/schemas/Level0" }, many))),
    ).toMatch(/more than 2000000 schemas/);
  });

  test("whose YAML repeats values by aliases of aliases", async () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level},`.repeat(10)}]`,
    );
    expect(await refusal(write("aliases.yaml", ["a0: &a0 [x]", ...levels].join("\n")))).toMatch(/alias/i);
  });

  test("that refers to files outside of its folder, by path, by link and by address", async () => {
    writeFileSync(join(folder, "..", "secret.json"), '{ "type": "object" }');
    symlinkSync(join(folder, "..", "secret.json"), join(folder, "link.json"));
    expect(await refusal(write("a.json", documentWith({ $ref: "../secret.json" })))).toMatch(
      /outside of its folder/,
    );
    expect(await refusal(write("b.json", documentWith({ $ref: "link.json" })))).toMatch(
      /outside of its folder/,
    );
    expect(await refusal(write("c.json", documentWith({ $ref: "file:///etc/passwd" })))).toMatch(
      /outside of its folder/,
    );
  });

  test("that refers to the network, to which nothing is sent", async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests += 1;
      response.end("{}");
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    expect(
      await refusal(write("a.json", documentWith({ $ref: `http://127.0.0.1:${port}/book.json` }))),
    ).toMatch(/can't be read/);
    server.close();
    expect(requests).toBe(0);
  });
});
