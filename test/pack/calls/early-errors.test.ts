/** Errors that are known before the main call: no call that writes is sent, and the others may find more of them. */
import { expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const gateway = startForTests(() =>
  startSmallGateway({
    client: { responses: { error: { errors: ["$message"] } } },
    book: {
      inputs: { cover: { upstream: "cover", write: "$number($value)" } },
      bodies: {
        create: {
          schema: {
            type: "object",
            properties: { title: { type: "string" }, cover: { type: "string" } },
          },
          checks: [{ field: "title", message: 'title = "bad" ? "This title is not allowed."' }],
        },
      },
      routes: [
        {
          client: "POST /shelves/:number/books",
          upstream: "POST /items",
          body: "create",
          calls: [
            {
              name: "shelf",
              at: "before",
              upstream: "GET /shelves/{number}",
              checks: [{ message: '$response.full ? "The shelf is full."' }],
            },
            { name: "hold", at: "before", upstream: "POST /shelves/{shelf.place}/holds" },
            {
              name: "held",
              at: "before",
              upstream: "GET /holds/{id_of_hold}",
              values: { id_of_hold: "$calls.hold.id" },
            },
            {
              name: "room",
              at: "before",
              upstream: "GET /rooms/1",
              checks: [{ message: '$response.closed ? "The room is closed."' }],
            },
          ],
          response: "none",
        },
      ],
    },
  }),
);

/** Creates a book, and gives the errors and the calls of the upstream. */
async function create(body: object, shelf: object = { place: 3 }, room: object = {}) {
  const values: Readonly<Record<string, object>> = {
    "/shelves/5": shelf,
    "/shelves/3/holds": { id: 8 },
    "/rooms/1": room,
  };
  gateway.service.respondWith((call, response) => json(200, values[call.path] ?? {})(call, response));
  const response = await gateway.send("POST /shelves/5/books", { body });
  const calls = gateway.service.calls.map(({ method, path }) => `${method} ${path}`);
  return [response.status, response.body.errors, calls];
}

const READS = ["GET /shelves/5", "GET /rooms/1"];

test("all calls are sent without an error", async () => {
  expect(await create({ title: "Waves" })).toEqual([
    200,
    undefined,
    ["GET /shelves/5", "POST /shelves/3/holds", "GET /holds/8", "GET /rooms/1", "POST /items"],
  ]);
});

test("no call writes after a failed check, and calls that read find further errors", async () => {
  expect(await create({ title: "Waves" }, { place: 3, full: true }, { closed: true })).toEqual([
    400,
    ["The shelf is full.", "The room is closed."],
    READS,
  ]);
});

test("a failed check is the error, also if the next call lacks a value of the same response", async () => {
  expect(await create({ title: "Waves" }, { full: true })).toEqual([400, ["The shelf is full."], READS]);
});

test.each([
  ["a check of the body", { title: "bad" }, "This title is not allowed."],
  ["the translation of a member", { cover: "soft" }, "Not a valid value."],
])("after %s has failed no call writes", async (_what, body, error) => {
  expect(await create(body)).toEqual([400, [error], READS]);
});

test("an invalid body sends nothing", async () => {
  const [status, , calls] = await create({ title: 7 });
  expect([status, calls]).toEqual([400, []]);
});
