/** The names of members in bodies: how long they may be, and which of them a form for the upstream can have. */
import { describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";

const FORM = "application/x-www-form-urlencoded";

let gateway: SmallGateway;

/** Posts a body with an open object. The upstream takes forms. */
async function post(raw: string, type = "application/json", meta: object = { additionalProperties: true }) {
  gateway = await startSmallGateway(
    {
      client: {
        bodies: { media_types: ["application/json", FORM] },
        responses: { error: { message: "$message", field: "$field" } },
      },
      upstream: { bodies: { media_type: FORM } },
      book: {
        fields: { id: "id", meta: "metadata" },
        bodies: { create: { schema: { type: "object", properties: { meta: { type: "object", ...meta } } } } },
        routes: [{ client: "POST /books", upstream: "POST /items", body: "create" }],
      },
    },
    RECORDING,
  );
  gateway.service.respondWith(json(200, { id: 1 }));
  const { status, text } = await gateway.send("POST /books", { raw, headers: { "content-type": type } });
  const sent = gateway.service.calls.map((call) => decodeURIComponent(call.received().toString()));
  return { status, text, sent };
}

const TOO_LONG = "The body has a name of more than 1000 characters.";
const ones = (count: number): string => `[${"1,".repeat(count - 1)}1]`;

describe("a name in a body", () => {
  test("of 1000 characters is sent", async () => {
    const name = "k".repeat(1000);
    const { status, sent } = await post(JSON.stringify({ meta: { [name]: "x".repeat(2000) } }));
    expect([status, sent]).toEqual([200, [`metadata[${name}]=${"x".repeat(2000)}`]]);
  });

  test.each([
    ["JSON", `{"meta":{"${"k".repeat(1001)}":1}}`, "application/json"],
    [
      "JSON with white space before the colon",
      `{"meta":{"${"k".repeat(1001)}" \r\n\t:1}}`,
      "application/json",
    ],
    ["JSON above many values", `{"meta":{"${"k".repeat(880_000)}":${ones(12_000)}}}`, "application/json"],
    ["a form", `meta[${"k".repeat(1001)}]=1`, FORM],
  ])(
    "of more than 1000 characters in %s is a 400, and the upstream is not called",
    async (_case, raw, type) => {
      const { status, text, sent } = await post(raw, type);
      expect([status, sent]).toEqual([400, []]);
      expect(text).toContain(TOO_LONG);
      expect(text.length).toBeLessThan(1000);
    },
  );

  test("that no member of the pack could have ends the field of errors", async () => {
    const closed = { additionalProperties: { type: "object", properties: {}, additionalProperties: false } };
    const members = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`m${n}`, 1]));
    const { status, text } = await post(
      JSON.stringify({ meta: { ["k".repeat(900)]: members } }),
      "application/json",
      closed,
    );
    expect([status, JSON.parse(text)]).toEqual([400, { message: "There is no such field.", field: "meta" }]);
  });
});

describe("a form for the upstream", () => {
  test("whose values repeat long names to more than a million characters is a 400", async () => {
    const { status, text, sent } = await post(`{"meta":{"${"k".repeat(1000)}":${ones(2000)}}}`);
    expect([status, sent]).toEqual([400, []]);
    expect(text).toContain("The names in the body are too long.");
    expect(await gateway.lastRecord()).toContain('"status":400');
  });

  test.each([
    ["a closing and an opening bracket", { "a][b": "1" }],
    ["an opening bracket", { "a[": "1" }],
    ["a closing bracket", { "c]": "1" }],
    ["no characters", { "": "1" }],
    ["a bracket, in a list", { a: [{ "b]": "1" }] }],
  ])("with a name that has %s is a 400, and the upstream is not called", async (_case, meta) => {
    const { status, text, sent } = await post(JSON.stringify({ meta }));
    expect([status, sent]).toEqual([400, []]);
    expect(text).toContain("A name in the body is empty or has brackets.");
  });
});
