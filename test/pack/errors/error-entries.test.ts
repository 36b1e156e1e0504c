import { expect, test } from "@jest/globals";
import { sendToLibrary } from "../load/library-gateway.ts";

const shape = { file: "pack.yaml", from: "error: { problems: [{ at: $field, text: $message }] }" };

/** The body of an error of the upstream, with this shape of the client's errors. */
const errorBody = async (to: string, problem: object): Promise<unknown> => {
  const { body } = await sendToLibrary(
    { edits: [{ ...shape, to: `error: ${to}` }] },
    { method: "DELETE", path: "/old/books/3" },
    () => [400, { problems: [problem] }],
  );
  return body;
};

const fields = "{ message: $message, errors: [{ resource: book, field: $field }] }";

test("a problem that has no value for its entry has no entry", async () => {
  expect(await errorBody(fields, { text: "It is lent" })).toEqual({ message: "It is lent", errors: [] });
});

test("a problem that has a value for its entry has one, with its constants", async () => {
  expect(await errorBody(fields, { text: "Too long", at: "name" })).toEqual({
    message: "Too long",
    errors: [{ resource: "book", field: expect.any(String) }],
  });
});
