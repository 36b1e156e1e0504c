/** Values of bodies that a value table does not have. */
import { expect, test } from "@jest/globals";
import { sendToLibrary } from "./library-gateway.ts";

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
