/** A text that a schema gives no bound has at most 65,535 characters. */
import { describe, expect, test } from "@jest/globals";
import { sendToLibrary } from "../load/library-gateway.ts";

const note = (schema: string): string => `
object: note
list: notes
fields:
  text: content
bodies:
  write:
    schema:
      type: object
      $defs: { text: { type: string }, long: { type: string, maxLength: 70000 } }
      properties: { text: ${schema} }
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
    ["{ anyOf: [{ type: string }, { type: integer }] }", (text: string) => text],
    [
      "{ oneOf: [{ type: object, properties: { a: { type: string } } }, { type: integer }] }",
      (text: string) => ({ a: text }),
    ],
    ["{ allOf: [{ properties: { a: { type: string } } }] }", (text: string) => ({ a: text })],
    ['{ $ref: "#/$defs/text" }', (text: string) => text],
    ["{ patternProperties: { ^a: { type: string } } }", (text: string) => ({ a: text })],
    ["{ type: array, prefixItems: [{ type: string }] }", (text: string) => [text]],
    ["{ type: object }", (text: string) => ({ a: [{ b: [1, text] }] })],
    ["{ type: object, additionalProperties: true }", (text: string) => ({ a: text })],
    ["{}", (text: string) => [{ a: { b: text } }]],
    ["{ type: array }", (text: string) => [[[text]]]],
  ])("of %s is at most 65,535 characters long", async (schema, valueOf) => {
    expect(await send(schema, valueOf("x".repeat(LONGEST)))).toMatchObject({ status: 200 });
    expect(await send(schema, valueOf("x".repeat(LONGEST + 1)))).toMatchObject({
      status: 400,
      sent: [],
      body: { problems: [{ text: `Must be at most ${LONGEST} characters long.` }] },
    });
  });

  test("of characters that take two units counts each once", async () => {
    expect(await send("{ type: string }", "😀".repeat(LONGEST))).toMatchObject({ status: 200 });
    expect(await send("{ type: object }", { a: "😀".repeat(LONGEST + 1) })).toMatchObject({ status: 400 });
  });

  test("has the pack's own words about it, and the name of its member", async () => {
    const schema = '{ type: object, properties: { a: { anyOf: [{ type: string, message: "Too much." }] } } }';
    expect(await send(schema, { a: "x".repeat(LONGEST + 1) })).toMatchObject({
      status: 400,
      body: { problems: [{ at: "text.a", text: "Too much." }] },
    });
  });

  test("where no text can be has the wrong type", async () => {
    expect(await send("{ type: boolean }", "x".repeat(LONGEST + 1))).toMatchObject({
      status: 400,
      body: { problems: [{ text: "Must be of type boolean." }] },
    });
  });

  test.each([
    ["{ type: string, maxLength: 70000 }", (text: string) => text],
    ["{ anyOf: [{ type: string, maxLength: 70000 }, { type: integer }] }", (text: string) => text],
    ["{ type: object, additionalProperties: { maxLength: 70000 } }", (text: string) => ({ a: text })],
    ["{ type: object, patternProperties: { ^a: { maxLength: 70000 } } }", (text: string) => ({ a: text })],
    ['{ $ref: "#/$defs/long" }', (text: string) => text],
  ])("has the bound of its schema %s if there is one", async (schema, valueOf) => {
    expect(await send(schema, valueOf("x".repeat(70_000)))).toMatchObject({ status: 200 });
    expect(await send(schema, valueOf("x".repeat(70_001)))).toMatchObject({
      status: 400,
      body: { problems: [{ text: "Must be at most 70000 characters long." }] },
    });
  });
});
