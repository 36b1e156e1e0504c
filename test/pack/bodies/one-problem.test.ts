/** A member that breaks several rules of a schema. */
import { expect, test } from "@jest/globals";
import { startSmallGateway } from "../../support/small-gateway.ts";

const NUMBERS = { type: "string", minLength: 3, pattern: "^[0-9]+$" };

async function problemsOf(schema: object, body: object) {
  const gateway = await startSmallGateway({
    client: {
      responses: { error: { errors: [{ field: "$field", code: "$code", text: "$message" }] } },
    },
    pack: { errors: { validation: { codes: { default: "invalid", type: "wrong_type" } } } },
    book: {
      fields: { id: "id", title: "name", tags: "tags" },
      bodies: { edit: { schema } },
      routes: [{ client: "PUT /books/:id", upstream: "PUT /items/{id}", body: "edit" }],
    },
  });
  return (await gateway.send("PUT /books/1", { body })).body.errors;
}

test("a member is named once, with the first rule that it breaks", async () => {
  const schema = { properties: { title: NUMBERS, id: { type: "integer", enum: [1, 2] } } };
  expect(await problemsOf(schema, { title: "x", id: "x" })).toEqual([
    { field: "title", code: "invalid", text: "Must be at least 3 characters long." },
    { field: "id", code: "wrong_type", text: "Must be of type integer." },
  ]);
});

test("has the reason of the pack, where a rule has one", async () => {
  const schema = { properties: { id: { type: "integer", enum: [1, 2], message: "One or two." } } };
  expect(await problemsOf(schema, { id: "x" })).toEqual([
    { field: "id", code: "invalid", text: "One or two." },
  ]);
});

test("a member in a list is named once for each reason", async () => {
  const schema = { properties: { tags: { type: "array", items: NUMBERS } } };
  expect(await problemsOf(schema, { tags: ["x", "y", "long", "12"] })).toEqual([
    { field: "tags", code: "invalid", text: "Must be at least 3 characters long." },
    { field: "tags", code: "invalid", text: "Not a valid value." },
  ]);
});
