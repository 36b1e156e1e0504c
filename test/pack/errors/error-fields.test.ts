/** `error_fields`: which field of the client an error about a member of the upstream names. */
import { expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";

const ERROR = { error: { errors: [{ field: "$field", text: "$message" }] } };

test.each([
  ["dots", "names.0", "first"],
  ["dots", "names[0]", "first"],
  ["dots", "names.0.text", "first"],
  ["dots", "names.1", "title"],
  ["brackets", "names[0]", "first"],
  ["brackets", "names[1].text", "title"],
])("with indexes in %s %s is %s", async (indexes, field, expected) => {
  const gateway = await startSmallGateway({
    client: { responses: ERROR },
    upstream: { responses: { ...ERROR, field_indexes: indexes } },
    book: {
      fields: { id: "id", title: "title", first: "first" },
      error_fields: { "names[0]": "first", names: "title" },
      bodies: { edit: { schema: { properties: { title: { type: "string" } } } } },
      routes: [{ client: "PUT /books/:id", upstream: "PUT /items/{id}", body: "edit" }],
    },
  });
  gateway.service.respondWith(json(400, { errors: [{ field, text: "No." }] }));
  const { body } = await gateway.send("PUT /books/1", { body: { title: "a" } });
  expect(body.errors).toEqual([{ field: expected, text: "No." }]);
});
