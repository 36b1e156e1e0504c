/** A text that a schema gives no bound has at most 65,535 characters. */
import { describe, expect, test } from "vitest";
import { sendToLibrary } from "./library-gateway.ts";

const note = (schema: string): string => `
object: note
list: notes
fields:
  text: content
bodies:
  write:
    schema: { type: object, properties: { text: ${schema} } }
routes:
  - { client: POST /notes, scope: books:write, upstream: POST /remarks, body: write }
`;

const LONGEST = 65_535;

describe("a text without a bound", () => {
  const send = (schema: string, text: unknown) =>
    sendToLibrary(
      { files: { "note.yaml": note(schema) } },
      { method: "POST", path: "/old/notes", body: { text } },
    );

  test.each([
    ["{ type: string }", (text: string) => text],
    ['{ type: [string, "null"] }', (text: string) => text],
    ["{}", (text: string) => text],
    ["{ type: array, items: { type: string } }", (text: string) => [text]],
    ["{ type: array, items: {} }", (text: string) => ["a", text]],
    ["{ type: object, additionalProperties: {} }", (text: string) => ({ text })],
  ])("of %s is at most 65,535 characters long", async (schema, valueOf) => {
    expect(await send(schema, valueOf("x".repeat(LONGEST)))).toMatchObject({ status: 200 });
    expect(await send(schema, valueOf("x".repeat(LONGEST + 1)))).toMatchObject({
      status: 400,
      sent: [],
      body: { problems: [{ text: `Must be at most ${LONGEST} characters long.` }] },
    });
  });

  test("has the bound of its schema if there is one", async () => {
    expect(await send("{ type: string, maxLength: 70000 }", "x".repeat(70_000))).toMatchObject({
      status: 200,
    });
  });
});
