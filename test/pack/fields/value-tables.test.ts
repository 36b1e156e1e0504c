/** The keys of value tables, and values that a table does not have. */
import { describe, expect, test } from "@jest/globals";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { sendToLibrary } from "../load/library-gateway.ts";
import { faultsOf, withPack } from "../load/pack-folder.ts";

const room = (state: string): string => `
object: room
list: rooms
fields:
  state: { upstream: status, values: state }
bodies:
  open: { schema: { type: object, properties: { state: ${state} } } }
routes:
  - { client: POST /rooms, scope: books:write, upstream: POST /rooms, body: open, response: none }
`;

const open = (schema: string, state: string) =>
  sendToLibrary(
    { files: { "room.yaml": room(schema) } },
    { method: "POST", path: "/old/rooms", body: { state } },
  );

test("a value that a table has is translated, and any other one is sent unchanged", async () => {
  expect((await open("{ type: string }", "available")).sent.at(-1)?.body).toEqual({ status: "in" });
  expect((await open("{ type: string }", "nope")).sent.at(-1)?.body).toEqual({ status: "nope" });
});

test("a value that the schema does not have is a 400 that names the field", async () => {
  const { status, body, sent } = await open("{ enum: [available, lent] }", "nope");
  expect([status, sent]).toEqual([400, []]);
  expect(body).toEqual({ problems: [{ at: "state", text: "Must be one of available, lent." }] });
});

describe("keys of a table that YAML reads as numbers and booleans", () => {
  const RANK = '{ 0: low, 10: high, 1.5: middle, true: any, "20": text }';
  const files = {
    "job.yaml": `
object: job
list: jobs
path_parameters: { rank: { values: urgency }, weight: { values: weight } }
fields: { rank: { upstream: rank, values: rank } }
bodies: { make: { schema: { type: object, properties: { rank: { type: string } } } } }
routes:
  - { client: GET /jobs, upstream: GET /jobs, response: object, scope: "books:look" }
  - { client: POST /jobs, upstream: POST /jobs, body: make, response: none, scope: "books:write" }
  - { client: "GET /jobs/by/:rank", upstream: "GET /jobs/{rank}", response: none, scope: "books:look" }
  - { client: "GET /jobs/of/:weight", upstream: "GET /jobs/{weight}", response: none, scope: "books:look" }
`,
  };
  const tables = (rank = RANK) => ({
    file: "pack.yaml",
    from: "values:\n",
    to: `values:
  rank: { read: ${rank}, unknown: reject }
  urgency: { read: { 10: urgent }, unknown: reject }
  weight: { read: { light: 1 }, unknown: reject }
`,
  });
  const send = (method: string, path: string, body?: unknown, upstream?: unknown) =>
    sendToLibrary({ edits: [tables()], files }, { method, path, ...(body !== undefined && { body }) }, () => [
      200,
      upstream ?? {},
    ]);

  test.each([
    [10, "high"],
    [0, "low"],
    [1.5, "middle"],
    [true, "any"],
    ["20", "text"],
    ["10", "10"],
    [20, 20],
  ])("read the upstream's %j as %j", async (upstream, client) => {
    expect((await send("GET", "/old/jobs", undefined, { rank: upstream })).body).toEqual({ rank: client });
  });

  test.each([
    ["high", 10],
    ["low", 0],
    ["any", true],
    ["text", "20"],
  ])("write the client's %j as %j", async (client, upstream) => {
    expect((await send("POST", "/old/jobs", { rank: client })).sent.at(-1)?.body).toEqual({ rank: upstream });
  });

  test("are the texts of a path", async () => {
    expect((await send("GET", "/old/jobs/by/urgent")).sent.at(-1)?.call).toBe("GET /api/new/jobs/10");
    expect((await send("GET", "/old/jobs/of/1")).sent.at(-1)?.call).toBe("GET /api/new/jobs/light");
    expect((await send("GET", "/old/jobs/of/2")).status).toBe(404);
  });

  test("are the texts of a path in a header", () => {
    const { locate } = withPack([tables()], (folder) => {
      writeFileSync(join(folder, "job.yaml"), files["job.yaml"]);
      return loadPack(folder);
    });
    expect(locate("/api/new/jobs/10", "/api/new/jobs")).toBe("/old/jobs/by/urgent");
  });

  test.each([
    ["{ in: here, null: none }", 'null is not translated: use "default" of the field'],
    ["{ in: here, 12345678901234567890: many }", "this number can't be compared exactly"],
  ])("%s is a problem of the key", (rank, message) => {
    expect(
      faultsOf({ file: "pack.yaml", from: "state: {", to: `other: { read: ${rank} }\n  state: {` }),
    ).toEqual([{ file: "pack.yaml", line: expect.any(Number), column: 30, message }]);
  });

  test("keep their types where the service has other product words", () => {
    const { dialect } = withPack(
      [{ file: "pack.yaml", from: "values:\n", to: "values:\n  shelf_rank: { read: { 10: shelf } }\n" }],
      (folder) => loadPack(folder, { shelf: "rack" }),
    );
    expect(dialect.values["rack_rank"]).toEqual({ read: [[10, "rack"]] });
  });
});
