/** Bodies that only one side has. */
import { expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const NOTE = { type: "object", properties: { note: { type: "string" } } };

const gateway = startForTests(() =>
  startSmallGateway({
    upstream: { bodies: { object: { item: "$object" } } },
    book: {
      path_parameters: { id: "integer" },
      inputs: { note: { upstream: "remark" } },
      bodies: {
        close: { set: { status: "closed" }, from_path: { number: "id" } },
        edit: { schema: NOTE },
        publish: { set: { status: "published" }, schema: NOTE },
        print: { default: { paper: "plain" }, schema: NOTE },
        move: { from_path: { number: "id" }, schema: NOTE },
      },
      routes: [
        { client: "GET /books/:id", upstream: "GET /items/{id}" },
        ...["edit", "publish", "print", "move"].map((body) => ({
          client: `POST /books/:id/${body}`,
          upstream: `POST /items/{id}/${body}`,
          body,
          read_route: "GET /books/:id",
        })),
        { client: "POST /books/:id/close", upstream: "PATCH /items/{id}", body: "close" },
        { client: "PUT /books/:id/lock", upstream: "POST /items/{id}/lock", response: "none", status: 204 },
      ],
    },
  }),
);

test.each([
  ["no body", {}],
  ["an empty body of another media type", { raw: "", headers: { "content-type": "text/plain" } }],
  ["members that the pack does not know", { body: { reason: "done" } }],
])("a call with %s becomes a call with a constant body in the upstream's wrapper", async (_what, options) => {
  gateway.service.respondWith(json(200, { id: 7, name: "Waves" }));
  const { status, body } = await gateway.send("POST /books/7/close", options);
  expect([status, body]).toEqual([200, { id: 7, title: "Waves" }]);
  const call = gateway.service.calls.at(-1);
  expect([call?.method, call?.path, call?.headers["content-type"]]).toEqual([
    "PATCH",
    "/items/7",
    "application/json",
  ]);
  expect(call?.json()).toEqual({ item: { status: "closed", number: 7 } });
});

test("a body of a route without one is dropped, whatever it is", async () => {
  for (const raw of ['{"reason":"spam"}', "{"]) {
    gateway.service.respondWith(json(200, {}));
    expect((await gateway.send("PUT /books/7/lock", { raw })).status).toBe(204);
    const call = gateway.service.calls.at(-1);
    expect([call?.path, call?.received().length, call?.headers["content-type"]]).toEqual([
      "/items/7/lock",
      0,
      undefined,
    ]);
  }
});

test.each([
  ["a constant", "publish", { status: "published" }],
  ["a default", "print", { paper: "plain" }],
  ["a value of the path", "move", { number: 7 }],
])(
  "%s is sent where the client could read the object instead, and sent nothing",
  async (_what, body, sent) => {
    gateway.service.respondWith(json(200, { id: 7, name: "Waves" }));
    expect((await gateway.send(`POST /books/7/${body}`, { body: {} })).status).toBe(200);
    const call = gateway.service.calls.at(-1);
    expect([call?.method, call?.path, call?.json()]).toEqual(["POST", `/items/7/${body}`, { item: sent }]);
  },
);

test("an edit with nothing to send becomes the read of the object", async () => {
  gateway.service.respondWith(json(200, { id: 7, name: "Waves" }));
  expect((await gateway.send("POST /books/7/edit", { body: {} })).body).toEqual({ id: 7, title: "Waves" });
  const call = gateway.service.calls.at(-1);
  expect([call?.method, call?.path]).toEqual(["GET", "/items/7"]);
});
