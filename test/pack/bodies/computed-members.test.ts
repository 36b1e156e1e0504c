/** Members of `from_body`, and the errors about them. */
import { describe, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";

const ENDS_AT = '$fromMillis($toMillis(start & "Z") + minutes * 60000)';
const VISIT = {
  required: ["start", "minutes"],
  properties: {
    start: { type: "string" },
    minutes: { type: "integer" },
    note: { type: "string", maxLength: 3 },
  },
};

async function send(body: object, definition: object) {
  const gateway = await startSmallGateway({
    client: { responses: { error: { errors: [{ field: "$field", text: "$message" }] } } },
    book: {
      fields: { id: "id", start: "starts_at", minutes: "length", note: "note" },
      error_fields: { ends_at: "minutes" },
      bodies: { create: { schema: VISIT, ...definition } },
      routes: [{ client: "POST /books", upstream: "POST /items", body: "create" }],
    },
  });
  gateway.service.respondWith(json(200, { id: 1 }));
  const { body: answer } = await gateway.send("POST /books", { body });
  return answer.errors ?? gateway.service.calls[0]?.json();
}

const required = (field: string) => ({ field, text: "This field is required." });
const invalid = (field: string) => ({ field, text: "Not a valid value." });
const long = { field: "note", text: "Must be at most 3 characters long." };

describe("a member that is computed", () => {
  const from = { from_body: { ends_at: ENDS_AT } };

  test("is sent", async () => {
    expect(await send({ start: "2026-01-31T12:00:00", minutes: 30 }, from)).toEqual({
      starts_at: "2026-01-31T12:00:00",
      length: 30,
      ends_at: "2026-01-31T12:30:00.000Z",
    });
  });

  test("is no further error where members that it reads break the schema", async () => {
    expect(await send({}, from)).toEqual([required("start"), required("minutes")]);
    expect(await send({ start: "x" }, from)).toEqual([required("minutes")]);
  });

  test("that fails is an error of the member in `error_fields`, beside errors of other members", async () => {
    expect(await send({ start: "x", minutes: 30, note: "long" }, from)).toEqual([long, invalid("minutes")]);
  });

  test("that fails like another one is an error once", async () => {
    const twice = { from_body: { ends_at: ENDS_AT, "until.at": ENDS_AT, "until.on": ENDS_AT } };
    expect(await send({ start: "x", minutes: 30 }, twice)).toEqual([invalid("minutes"), invalid("start")]);
  });
});

describe("a check that fails on a value", () => {
  const checks = { checks: [{ field: "note", message: `${ENDS_AT} < "2026" ? "Too early."` }] };

  test("is an error if the body is valid", async () => {
    expect(await send({ start: "x", minutes: 30 }, checks)).toEqual([invalid("note")]);
  });

  test("is none if a member was left out", async () => {
    expect(await send({ minutes: 30 }, checks)).toEqual([required("start")]);
  });
});
