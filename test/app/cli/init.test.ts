/** `alpha-gateway init` writes a pack that can be loaded, or says why it does not. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { json } from "../../support/fake-v4.ts";
import { startGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { request } from "../../support/request.ts";

const printed = captureCommands();
let top: string;
beforeEach(() => {
  top = temporaryFolder();
});

const DEFAULTS = {
  object: "book",
  "client-path": "/v1/books",
  "upstream-path": "/api/items",
  scheme: "Bearer",
  fields: "id,title=name",
};
const init = (folder: string, flags: Partial<typeof DEFAULTS>): Promise<number> =>
  runCommandLine([
    "init",
    folder,
    ...Object.entries({ ...DEFAULTS, ...flags }).map(([name, value]) => `--${name}=${value}`),
  ]);

const titled = (all: readonly Partial<typeof DEFAULTS>[]) =>
  all.map((flags) => [JSON.stringify(flags).slice(0, 60), flags] as const);

/** Words that YAML reads as other values, and names that JavaScript's objects have. */
const WORDS = ["null", "true", "y", "no", "on", "constructor", "length", "id", "list", "client", "fields"];
const fieldsOf = (words: readonly string[]): string =>
  words.map((word, index) => `${word}=${words.at(index - 1)}`).join(",");

describe("init writes a pack that check finds valid", () => {
  const valid: Partial<typeof DEFAULTS>[] = [
    ...WORDS.map((object) => ({ object })),
    ...WORDS.map((scheme) => ({ scheme })),
    { fields: fieldsOf([...WORDS, "Infinity", "NaN", "toString", "_", "e1"]) },
    { fields: "title=name,heading=name" },
    { fields: Array.from({ length: 100 }, (_, n) => `${"f".repeat(50)}${n}`).join(",") },
    { object: "o".repeat(60) },
    { "client-path": "/v1/123", "upstream-path": "/1.5" },
    { "client-path": "/v1/boats.json", "upstream-path": "/api/ships.json" },
    { "client-path": "/null", "upstream-path": "/true" },
    { "client-path": "/1e3/0x1f", "upstream-path": "/-/.-" },
    { "client-path": "/__proto__/__proto__" },
    { "client-path": `/${"a".repeat(199)}` },
    { scheme: "none", fields: "nr=id,name" },
  ];
  test.each(titled(valid))("with %s", async (_, flags) => {
    const folder = join(top, "a pack: 'new' #1");
    const code = await init(folder, flags);
    expect([code, printed()]).toEqual([0, expect.stringContaining("1 example passed")]);
  });
});

test("init puts the suffix of a list's path behind the id, and not into the name of the list", async () => {
  const folder = join(top, "new");
  await init(folder, { "client-path": "/v1/boats.json", "upstream-path": "/api/ships" });
  const resource = readFileSync(join(folder, "book.yaml"), "utf8");
  expect(resource).toContain("list: boats\n");
  expect(resource).toContain("client: GET /boats.json, ");
  expect(resource).toContain('client: "GET /boats/:id.json", scope: token, upstream: "GET /ships/{id}"');
});

test("init writes a pack whose clients are served with the scheme that the new API has, too", async () => {
  const folder = join(top, "new");
  expect(await init(folder, {})).toBe(0);
  const gateway = await startGatewayWithFakeV4({ MAPPINGS_DIR: folder });
  gateway.v4.respondWith((call, response) =>
    json(200, [{ id: 1, name: call.headers.authorization }])(call, response),
  );
  const headers = { authorization: "Bearer T" };
  expect(await request(gateway.app, "GET /v1/books", { headers })).toMatchObject({
    status: 200,
    body: [{ id: 1, title: "Bearer T" }],
  });
});

describe("init refuses, and writes nothing,", () => {
  const invalid: Partial<typeof DEFAULTS>[] = [
    { object: "pack" },
    { object: "surface" },
    { object: "a book" },
    { object: "__proto__" },
    { object: "bücher" },
    { object: "book: x" },
    { object: "o".repeat(61) },
    { "client-path": "/v1/../books" },
    { "client-path": "/v1/." },
    { "client-path": "/v1/a b" },
    { "client-path": "/v1/{x}" },
    { "upstream-path": `/${"a".repeat(200)}` },
    { scheme: "a b" },
    { scheme: "123" },
    { scheme: "-" },
    { scheme: "a_b" },
    { scheme: "x".repeat(61) },
    { fields: "__proto__" },
    { fields: "id=__proto__" },
    { fields: "id,id=name" },
    { fields: "a b" },
    { fields: "a.b=c" },
    { fields: "naïve" },
    { fields: "a=b=c" },
    { fields: "a,,b" },
    { fields: "f".repeat(61) },
    { fields: Array.from({ length: 101 }, (_, n) => `f${n}`).join(",") },
  ];
  test.each(titled(invalid))("%s", async (_, flags) => {
    const folder = join(top, "new");
    expect(await init(folder, flags)).not.toBe(0);
    expect(printed()).toContain(`AG_USAGE: --${Object.keys(flags)[0]} "${Object.values(flags)[0]}": use `);
    expect(existsSync(folder)).toBe(false);
  });

  test("says which names of fields are valid", async () => {
    expect(await init(join(top, "new"), { fields: "id,address.zip=postal_code" })).not.toBe(0);
    expect(printed()).toContain(
      "use up to 100 different names of letters, digits and _, such as id,title=name",
    );
  });
});
