/** How clients write methods and paths, where a dialect has its own rules. */
import { describe, expect, test } from "@jest/globals";
import { RECORDING, type TestSettings } from "../../support/gateway.ts";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";
import type { SmallPack } from "../../support/small-pack.ts";

let gateway: SmallGateway;

const METHOD = "x-http-method-override";
const routes = [
  { client: "GET /books/:id", upstream: "GET /items/{id}" },
  { client: "POST /books/:id", upstream: "POST /items/{id}", body: "edit" },
  { client: "PUT /books/:id", upstream: "PUT /items/{id}", body: "edit" },
];
const bodies = { edit: { schema: { type: "object", properties: { title: { type: "string" } } } } };

async function start(
  client: object,
  book: object = { routes, bodies },
  settings: TestSettings = {},
): Promise<void> {
  const pack: SmallPack = { client, book, pack: { messages: { gone: "There is no such call." } } };
  gateway = await startSmallGateway(pack, settings);
  gateway.service.respondWith(json(200, { id: 7, name: "Emma" }));
}
const sent = () => gateway.service.calls.map(({ method, path }) => `${method} ${path}`);

describe("a POST with the header of another method", () => {
  test("is a request of that method, with its body", async () => {
    await start({ method_header: METHOD }, undefined, RECORDING);
    const body = { title: "Emma" };
    const { status } = await gateway.send("POST /books/7", { headers: { [METHOD]: "PUT" }, body });
    expect([status, sent()]).toEqual([200, ["PUT /items/7"]]);
    expect(await gateway.lastRecord()).toContain('"method":"PUT"');
  });

  test.each([["GET"], [""], ["DROP"]])("that names %p is a 400", async (method) => {
    await start({ method_header: METHOD });
    const { status } = await gateway.send("POST /books/7", { headers: { [METHOD]: method }, body: {} });
    expect([status, sent()]).toEqual([400, []]);
  });

  test("is a POST without the key in the pack, and other requests never have the header", async () => {
    await start({});
    await gateway.send("POST /books/7", { headers: { [METHOD]: "PUT" }, body: {} });
    await gateway.stop();
    expect(sent()).toEqual(["POST /items/7"]);
    await start({ method_header: METHOD });
    await gateway.send("GET /books/7", { headers: { [METHOD]: "PUT" } });
    expect(sent()).toEqual(["GET /items/7"]);
  });
});

describe("slashes in a path", () => {
  test.each(["/books/7", "/books/7/", "//books//7"])("have no effect by default: %s", async (path) => {
    await start({});
    expect((await gateway.send(`GET ${path}`)).status).toBe(200);
  });

  test.each([
    ["/books/7", 200],
    ["/books/7/", 404],
    ["//books/7", 404],
  ])("count where the dialect says it: %s is a %i", async (path, status) => {
    await start({ slashes: { trailing: "exact", doubled: "reject" } });
    expect((await gateway.send(`GET ${path}`)).status).toBe(status);
  });

  test("count for the methods of a path as well", async () => {
    await start({ slashes: { trailing: "exact" } });
    expect((await gateway.send("DELETE /books/7")).status).toBe(405);
    expect((await gateway.send("DELETE /books/7/")).status).toBe(404);
  });
});

describe("a route that the body does not select, and that is rejected,", () => {
  const selected = [
    { client: "POST /books", upstream: "POST /items", body: "edit", when: "$exists(title)" },
    { client: "POST /books", reject: "gone" },
  ];
  test.each([
    ["broken JSON", "application/json", "{", 400, "The body is not valid JSON."],
    ["another media type", "text/csv", "a;b", 415, ""],
    ["a body without the member", "application/json", "{}", 400, "There is no such call."],
  ])("does not hide %s", async (_what, type, body, status, message) => {
    await start({}, { routes: selected, bodies });
    const response = await gateway.send("POST /books", { headers: { "content-type": type }, raw: body });
    expect(response.status).toBe(status);
    expect(response.text).toContain(message);
  });
});
