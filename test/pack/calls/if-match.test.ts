/** Calls that change an object only if it is still the one that they were built from. */
import { expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { json, plain } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const gateway = startForTests(() =>
  startSmallGateway(
    {
      client: { headers: { request: { "If-Match": "If-Match" } } },
      pack: {
        calls: {
          current: { at: "before", upstream: "GET /items/{id}" },
          shelf: { at: "before", upstream: "GET /shelves/{shelf}", not_found_field: "shelf" },
        },
        errors: { statuses: { 412: 409 } },
      },
      book: {
        bodies: {
          edit: {
            merge_with: "current",
            schema: { type: "object", properties: { title: { type: "string" } } },
          },
          move: { schema: { type: "object", properties: { shelf: { type: "integer" } } } },
        },
        inputs: { shelf: "shelf" },
        routes: [
          ...["PATCH", "DELETE"].map((method) => ({
            client: `${method} /books/:id`,
            upstream: method === "PATCH" ? "PUT /items/{id}" : "DELETE /items/{id}",
            ...(method === "PATCH" && { body: "edit" }),
            calls: ["current"],
            if_match: "current",
            response: "none",
          })),
          {
            client: "PUT /books/:id/shelf",
            upstream: "PUT /items/{id}/shelf",
            body: "move",
            calls: ["shelf"],
            if_match: "shelf",
            response: "none",
          },
        ],
      },
    },
    RECORDING,
  ),
);

const current = (headers: Record<string, string>) => json(200, { id: 7, name: "Old", year: 1931 }, headers);
const put = async (headers: Record<string, string> = {}) => {
  const response = await gateway.send("PATCH /books/7", { body: { title: "Waves" }, headers });
  return [response.status, response.body.message];
};
const lastCall = () => {
  const call = gateway.service.calls.at(-1);
  return [call?.method, call?.headers["if-match"]];
};

test.each([['"v1"'], ['W/"v1"'], ['""']])("a merged PUT has the ETag %s of the object", async (etag) => {
  gateway.service.respondWith(current({ etag }), json(200, {}));
  expect(await put()).toEqual([200, undefined]);
  expect(lastCall()).toEqual(["PUT", etag]);
  expect(gateway.service.calls.at(-1)?.json()).toEqual({ id: 7, name: "Waves", year: 1931 });
});

test("so has a call without a body", async () => {
  gateway.service.respondWith(current({ etag: '"v1"' }), json(200, {}));
  expect((await gateway.send("DELETE /books/7")).status).toBe(200);
  expect(lastCall()).toEqual(["DELETE", '"v1"']);
});

test("a change by another client is the pack's status for a 412", async () => {
  gateway.service.respondWith(current({ etag: '"v1"' }), json(412, { message: "It has changed." }));
  expect(await put()).toEqual([409, "It has changed."]);
});

test.each<[what: string, headers: Record<string, string>]>([
  ["without an ETag", {}],
  ["with an invalid ETag", { etag: "v1" }],
])("nothing is changed where the object comes %s", async (_what, headers) => {
  gateway.service.respondWith(current(headers));
  const [status] = await put();
  expect([status, lastCall()]).toEqual([500, ["GET", undefined]]);
  expect(await gateway.lastRecord()).toContain('the response to \\"current\\" has no ETag');
});

test.each([["*"], ['"v1"'], ['"v0", "v1"']])(
  "an If-Match %s of the client is for the same version",
  async (sent) => {
    gateway.service.respondWith(current({ etag: '"v1"' }), json(200, {}));
    expect(await put({ "if-match": sent })).toEqual([200, undefined]);
    expect(lastCall()).toEqual(["PUT", '"v1"']);
  },
);

test("an If-Match of the client for another version changes nothing", async () => {
  gateway.service.respondWith(current({ etag: '"v2"' }));
  expect(await put({ "if-match": '"v1"' })).toEqual([409, "The object has changed."]);
  expect(lastCall()).toEqual(["GET", undefined]);
});

test("the object keeps its ETag if the response has no body", async () => {
  gateway.service.respondWith(plain(204, "", { etag: '"v1"' }), json(200, {}));
  expect((await gateway.send("DELETE /books/7")).status).toBe(200);
  expect(lastCall()).toEqual(["DELETE", '"v1"']);
});

test("nothing is changed where a page of text comes in place of the object", async () => {
  gateway.service.respondWith(plain(200, "<html>"), json(200, {}));
  expect((await gateway.send("DELETE /books/7")).status).toBe(500);
  expect(lastCall()).toEqual(["GET", undefined]);
});

test("nothing is changed where the upstream denies the object", async () => {
  gateway.service.respondWith(json(403, { message: "Not yours." }), json(200, {}));
  const { status, body } = await gateway.send("PUT /books/7/shelf", { body: { shelf: 3 } });
  expect([status, body.message]).toEqual([403, "Not yours."]);
  expect(lastCall()).toEqual(["GET", undefined]);
});

test("an object that does not exist is an error of the field with its id", async () => {
  gateway.service.respondWith(json(404, {}), json(200, {}));
  expect((await gateway.send("PUT /books/7/shelf", { body: { shelf: 3 } })).status).toBe(400);
  expect(lastCall()).toEqual(["GET", undefined]);
});
