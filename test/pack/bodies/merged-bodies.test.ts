import { expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { sendToLibrary } from "../load/library-gateway.ts";

const wholeTray = { file: "tray.yaml", from: "{ place_ids: tray.place_ids }", to: "tray" };
const noPlaces = { rows: [], page: 1, last_page: 1, total: 0 };

/** Changes a tray that the upstream replaces as a whole. Calls are added to `calls`. */
const move = (tray: unknown, calls: string[] = []) =>
  sendToLibrary(
    { edits: [wholeTray] },
    { method: "PUT", path: "/old/trays/3", body: { stands: [] } },
    (call) => {
      calls.push(call);
      if (call.startsWith("GET /api/new/places")) return [200, noPlaces];
      return [200, call.startsWith("GET") ? tray : {}];
    },
  );

test("a body that is merged with a whole object keeps what the client did not send", async () => {
  const { sent } = await move({ id: 3, kind: "shelf", place_ids: ["B/2"], weight: { kg: 4 } });
  expect(sent.filter(({ call }) => call.startsWith("PUT"))).toEqual([
    { call: expect.anything(), body: { id: 3, kind: "shelf", place_ids: [], weight: { kg: 4 } } },
  ]);
});

test.each([[null], [[]], ["text"]])("nothing is written if the current object is %j", async (tray) => {
  const calls: string[] = [];
  const { status, context } = await move(tray, calls);
  expect([status, context.warnings]).toEqual([500, [expect.stringContaining('no object "tray"')]]);
  expect(calls.length).toBeGreaterThan(0);
  expect(calls.filter((call) => !call.startsWith("GET"))).toEqual([]);
});

test("a member that is merged with its current value keeps nested members that the client did not send", async () => {
  const number = { type: "number" };
  const gateway = await startSmallGateway({
    pack: { calls: { current: { at: "before", upstream: "GET /items/{id}" } } },
    book: {
      fields: {
        label: "aim.label",
        "at.high": "aim.place.high",
        "at.wide": "aim.place.wide",
        frame: "aim.frame",
      },
      bodies: {
        edit: {
          merge_with: { aim: "current.aim" },
          schema: {
            type: "object",
            properties: {
              at: { type: "object", properties: { high: number, wide: number } },
              frame: { type: "object", additionalProperties: number },
            },
          },
        },
      },
      routes: [{ client: "PATCH /books/:id", upstream: "PUT /items/{id}", body: "edit", calls: ["current"] }],
    },
  });
  const aim = { label: "M4", place: { high: 1, wide: 2 }, frame: { width: 3, depth: 4 } };
  gateway.service.respondWith(json(200, { id: 7, aim }));
  await gateway.send("PATCH /books/7", { body: { at: { wide: 9 }, frame: { depth: 5 } } });
  expect(gateway.service.calls.at(-1)?.json()).toEqual({
    aim: { label: "M4", place: { high: 1, wide: 9 }, frame: { depth: 5 } },
  });
});

test("an invalid body gets its errors, though the calls that it is merged with are not sent", async () => {
  const gateway = await startSmallGateway({
    client: { responses: { error: { errors: [{ field: "$field", text: "$message" }] } } },
    pack: { calls: { current: { at: "before", upstream: "GET /items/{id}" } } },
    book: {
      inputs: { pages: { upstream: "pages", write: "$number($value)" } },
      bodies: {
        edit: {
          merge_with: "current",
          schema: {
            type: "object",
            required: ["title"],
            properties: { title: { type: "string", maxLength: 3 }, pages: { type: "string" } },
          },
        },
      },
      routes: [{ client: "PUT /books/:id", upstream: "PUT /items/{id}", body: "edit", calls: ["current"] }],
    },
  });
  const { status, body } = await gateway.send("PUT /books/7", { body: { title: "long", pages: "many" } });
  const errors = [
    { field: "title", text: "Must be at most 3 characters long." },
    { field: "pages", text: "Not a valid value." },
  ];
  expect([status, body, gateway.service.calls]).toEqual([400, { errors }, []]);
  await gateway.stop();
});
