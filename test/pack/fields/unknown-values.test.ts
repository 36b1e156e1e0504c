/** Values that a table with `unknown: reject` does not have. */
import { describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const STATE = { read: { IN: "available", OUT: "lent" }, unknown: "reject" };

const gateway = startForTests(() =>
  startSmallGateway(
    {
      client: { responses: { error: { errors: [{ field: "$field", reason: "$message" }] } } },
      pack: {
        values: { state: STATE, shelf: { same: ["a", "b"], otherwise: "other", unknown: "reject" } },
      },
      book: {
        fields: {
          id: "id",
          state: { upstream: "status", values: "state" },
          shelf: { upstream: "shelf", values: "shelf" },
          copy: { upstream: "copy", object: "book" },
        },
        bodies: {
          edit: {
            schema: {
              type: "object",
              properties: {
                state: { type: ["string", "null"] },
                copy: { type: "object", properties: { state: { type: "string" } } },
              },
            },
          },
        },
        routes: [
          {
            client: "GET /books",
            upstream: "GET /items",
            response: "list",
            query: { parameters: { state: { upstream: "status", values: "state", multiple: "comma" } } },
          },
          { client: "PUT /books/:id", upstream: "PUT /items/{id}", body: "edit" },
          { client: "GET /states/:state", upstream: "GET /statuses/{state}" },
        ],
        path_parameters: { state: { values: "state" } },
      },
    },
    RECORDING,
  ),
);

const reason = "Must be one of available, lent.";

describe("in a request they are an error of their field", () => {
  test.each<[what: string, call: string, body: object | undefined, status: number, error: object]>([
    ["a body", "PUT /books/7", { state: "lost" }, 400, { field: "state", reason }],
    [
      "a name of an object's own member",
      "PUT /books/7",
      { state: "constructor" },
      400,
      { field: "state", reason },
    ],
    ["the upstream's value", "PUT /books/7", { state: "IN" }, 400, { field: "state", reason }],
    ["a nested object", "PUT /books/7", { copy: { state: "lost" } }, 400, { field: "copy.state", reason }],
    ["a query parameter", "GET /books?state=lost", undefined, 400, { field: "state", reason }],
    ["one of several values", "GET /books?state=lent,lost", undefined, 400, { field: "state", reason }],
    ["a path", "GET /states/lost", undefined, 404, { reason: "Not found" }],
  ])("%s", async (_what, call, body, status, error) => {
    gateway.service.respondWith(json(200, { id: 7 }));
    const calls = gateway.service.calls.length;
    const response = await gateway.send(call, body && { body });
    expect(response).toMatchObject({ status, body: { errors: [error] } });
    expect(gateway.service.calls).toHaveLength(calls);
  });
});

test("values of the table, and null, are sent", async () => {
  gateway.service.respondWith(json(200, { id: 7 }));
  await gateway.send("PUT /books/7", { body: { state: null, copy: { state: "lent" } } });
  expect(gateway.service.calls.at(-1)?.json()).toEqual({ status: null, copy: { status: "OUT" } });
  gateway.service.respondWith(json(200, []));
  await gateway.send("GET /books?state=lent,available");
  expect(gateway.service.calls.at(-1)?.path).toBe("/items?status=OUT,IN");
});

test("unknown values in a response are unchanged, or `otherwise`, and a loss of the record", async () => {
  gateway.service.respondWith(
    json(200, [
      { id: 1, status: "IN", shelf: "a" },
      { id: 2, status: "LOST", shelf: "z" },
    ]),
  );
  const { body } = await gateway.send("GET /books");
  expect(body).toMatchObject([
    { state: "available", shelf: "a" },
    { state: "LOST", shelf: "other" },
  ]);
  const [record] = JSON.parse(await gateway.lastRecord()).records;
  expect(record.losses.toSorted()).toEqual([
    "shelf: a value that the table does not have",
    "state: a value that the table does not have",
  ]);
  gateway.service.respondWith(json(200, [{ id: 1, status: "IN", shelf: null }]));
  await gateway.send("GET /books");
  expect(JSON.parse(await gateway.lastRecord()).records[0].losses).toEqual([]);
});
