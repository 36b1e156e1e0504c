/** The literal `null` as the body of a request: another value than an object, unless the pack says that it is no body. */
import { expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import type { SmallPack } from "../../support/small-pack.ts";

const packWith = (bodies: object): SmallPack => ({
  client: { bodies },
  book: {
    bodies: {
      edit: { schema: { properties: { title: { type: "string" } } } },
      close: { set: { open: false } },
    },
    routes: [
      { client: "PUT /books/:id", upstream: "PUT /items/{id}", body: "edit" },
      { client: "POST /books/:id/close", upstream: "PUT /items/{id}", body: "close" },
    ],
  },
});

async function send(bodies: object, call: string) {
  const gateway = await startSmallGateway(packWith(bodies));
  gateway.service.respondWith(json(200, { id: 1 }));
  const { status } = await gateway.send(call, { raw: "null" });
  return { status, sent: gateway.service.calls.map((call) => call.json()) };
}

test("a null body is an error if the route accepts members, and nothing is sent", async () => {
  expect(await send({}, "PUT /books/1")).toEqual({ status: 400, sent: [] });
});

test("null is not a body if the route accepts no members", async () => {
  expect(await send({}, "POST /books/1/close")).toEqual({ status: 200, sent: [{ open: false }] });
});

test("null is not a body with null_body: absent", async () => {
  expect(await send({ null_body: "absent" }, "PUT /books/1")).toEqual({ status: 200, sent: [{}] });
});
