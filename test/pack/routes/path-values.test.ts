/** Values of clients that become part of an upstream path. */
import { afterEach, describe, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";

let gateway: SmallGateway | undefined;
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

async function send(call: string, body?: object) {
  gateway = await startSmallGateway({
    pack: { values: { prefixed: { read: '"b_" & $value', write: '$substringAfter($value, "b_")' } } },
    client: { responses: { error: { message: "$message", field: "$field" } } },
    book: {
      path_parameters: { id: { type: "path", values: "prefixed" } },
      bodies: {
        move: {
          schema: { type: "object", properties: { title: { type: "string" } } },
          to_path: { name: "name" },
        },
      },
      routes: [
        { client: "GET /books/:id", upstream: "GET /items/{id}" },
        { client: "POST /moves", upstream: "POST /moves/{name}", body: "move", response: "none" },
      ],
    },
  });
  gateway.service.respondWith(json(200, { id: 7 }));
  const { status, body: response } = await gateway.send(call, body && { body });
  return { status, response, calls: gateway.service.calls.length };
}

describe("a path parameter that is translated", () => {
  test("is sent if its value can be in a path", async () => {
    expect(await send("GET /books/b_7")).toMatchObject({ status: 200, calls: 1 });
  });

  test.each([
    ["empty", "b_"],
    ["a dot segment", "b_.."],
    ["a path with a dot segment", "b_../7"],
    ["an encoded dot segment", "b_%252e%252e"],
    ["a path with an empty segment", "b_/7"],
  ])("is a 404 without a call if its value is %s", async (_case, value) => {
    expect(await send(`GET /books/${value}`)).toMatchObject({ status: 404, calls: 0 });
  });
});

describe("a member of a body that is sent in the path", () => {
  test.each([
    ["half of a surrogate pair", "\ud800"],
    ["a dot segment", ".."],
    ["an empty text", ""],
  ])("is a 400 that names the member, without a call, if it is %s", async (_case, title) => {
    const response = { message: "Not a valid value.", field: "title" };
    expect(await send("POST /moves", { title })).toEqual({ status: 400, response, calls: 0 });
  });
});
