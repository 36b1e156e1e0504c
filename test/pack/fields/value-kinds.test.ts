/** Value kinds of lists, in expressions, and without a value. */
import { expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";
import type { SmallPack } from "../../support/small-pack.ts";

const VALUES = {
  letter: { read: { a: "A", b: "B" }, unknown: "reject" },
  loud: { read: "$uppercase($value)", write: "$lowercase($value)" },
  joined: { read: '$join($value, ",")', write: '$split($value, ",")' },
};

const PACK: SmallPack = {
  pack: { values: VALUES },
  book: {
    fields: {
      letters: { upstream: "letters", values: "letter" },
      all: { upstream: "all", values: "joined" },
      loud: { read: '$values("loud", name)' },
      one: { read: '$values("letter", name)' },
    },
    bodies: {
      edit: { schema: { properties: { letters: { type: "array" }, all: { type: "string" } } } },
    },
    routes: [
      { client: "GET /books/:id", upstream: "GET /items/{id}" },
      { client: "PUT /books/:id", upstream: "PUT /items/{id}", body: "edit" },
    ],
  },
};

async function exchange(call: string, response: object, body?: object) {
  const gateway = await startSmallGateway(PACK);
  gateway.service.respondWith(json(200, response));
  const answer = await gateway.send(call, { ...(body && { body }) });
  return { status: answer.status, body: answer.body, sent: body && gateway.service.calls[0]?.json() };
}

test("a table translates each item of a list, and an expression gets the list", async () => {
  const { body } = await exchange("GET /books/1", {
    letters: ["a", null, ["b"]],
    all: ["x", "y"],
    name: "a",
  });
  expect(body).toEqual({ letters: ["A", null, ["B"]], all: "x,y", loud: "A", one: "A" });
});

test("a list of the client is translated back in the same way", async () => {
  const { sent } = await exchange("PUT /books/1", {}, { letters: ["B", null, "A"], all: "x,y" });
  expect(sent).toEqual({ letters: ["b", null, "a"], all: ["x", "y"] });
});

test("an item that the table does not have is an error with unknown: reject", async () => {
  const { status, sent } = await exchange("PUT /books/1", {}, { letters: ["A", "Z"] });
  expect([status, sent]).toEqual([400, undefined]);
});

test("$values gives nothing for no value", async () => {
  const { body } = await exchange("GET /books/1", { name: null });
  expect(body).toMatchObject({ loud: null, one: null });
});

test("$values gives `otherwise` for a value that the table does not have", async () => {
  const gateway = await startSmallGateway({
    pack: { values: { letter: { read: { a: "A" }, otherwise: "?" } } },
    book: {
      fields: { known: { read: '$values("letter", one)' }, other: { read: '$values("letter", two)' } },
      routes: [{ client: "GET /books/:id", upstream: "GET /items/{id}" }],
    },
  });
  gateway.service.respondWith(json(200, { one: "a", two: "z" }));
  const { body } = await gateway.send("GET /books/1");
  await gateway.stop();
  expect(body).toEqual({ known: "A", other: "?" });
});

test("$values of a kind that can't be compiled is reported", () => {
  const values = { odd: { read: "$value ~> $uppercase" } };
  const faults = faultsOfSmallPack({
    pack: { values },
    book: {
      fields: { id: "id", title: { read: '$values("odd", name)' }, name: { upstream: "n", values: "odd" } },
    },
  });
  expect(faults).toEqual(['$values has no value of "odd": its "read" is no table, and can\'t be compiled']);
});

test.each(['$value = null ? "none" : $value', '$exists($value) ? $value : "none"', "null != $value"])(
  "an expression that looks whether there is a value is reported: %s",
  (read) => {
    const faults = faultsOfSmallPack({
      pack: { values: { some: { read } } },
      book: { fields: { id: { upstream: "id", values: "some" } } },
    });
    expect(faults).toEqual([
      'a value kind does not run where there is no value, so $value is never null; use "default" of the field, or "read", which always runs',
    ]);
  },
);

test("$values in a `write` is reported: it translates the upstream's values", () => {
  const title = { upstream: "name", write: '$values("letter", $value)' };
  const faults = faultsOfSmallPack({
    pack: { values: { letter: { read: { a: "A" } } } },
    book: { fields: { id: "id", title, letter: { upstream: "letter", values: "letter" } } },
  });
  expect(faults).toEqual([expect.stringContaining("unknown variable or function $values")]);
});
