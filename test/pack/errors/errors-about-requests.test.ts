/** Values of the request in the client's errors. */
import { describe, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const gateway = startForTests(() =>
  startSmallGateway(
    {
      client: {
        method_header: "X-Method",
        responses: {
          error: { problems: [{ text: "$message", id: "$path.id", at: "$request_path" }], by: "$method" },
          error_shapes: [
            { status: 429, shape: { wait: "$retry_after" } },
            { status: 422, shape: { text: "{field} of {path.id}: {message}", other: "{words}" } },
          ],
        },
        headers: { response: { "X-Problem": { read: "$object.problems[0].id", on: "error" } } },
      },
      upstream: { responses: { error: { problems: [{ text: "$message", at: "$field" }] } } },
      pack: { values: { book_id: { read: '"b" & $value', write: '$substringAfter($value, "b")' } } },
      book: { path_parameters: { id: { values: "book_id" } } },
    },
    { RATE_LIMIT: "5/60" },
  ),
);

const problems = (count: number) => ({ problems: Array.from({ length: count }, () => ({ text: "No." })) });

test("errors have the client's value of a path parameter, and headers can be made of them", async () => {
  gateway.service.respondWith(json(404, problems(2)));
  const { body, headers } = await gateway.send("GET /books/b%207");
  const problem = { text: "No.", id: "b 7", at: "/books/b 7" };
  expect(body).toEqual({ problems: [problem, problem], by: "GET" });
  expect(headers.get("x-problem")).toBe("b 7");
});

test("texts of a request are cut, and an error that repeats them has a bounded length", async () => {
  gateway.service.respondWith(json(404, problems(100)));
  const { body, text } = await gateway.send(`GET /books/b${"x".repeat(3000)}`);
  expect(body.problems[0].id).toBe(`b${"x".repeat(498)}…`);
  expect(text.length).toBeLessThan(30_000);
});

test("a request without a route has its path as it was written where it can't be decoded, and no path parameters", async () => {
  const { body } = await gateway.send("POST /else%zz", { headers: { "x-method": "PATCH" } });
  expect(body).toEqual({ problems: [{ text: expect.any(String), at: "/else%zz" }], by: "PATCH" });
});

describe("a text of a resource that names a path parameter", () => {
  const ONE = "GET /books/:id";
  const routes = [
    { client: "GET /books", upstream: "GET /items", response: "list" },
    { client: ONE, upstream: "GET /items/{id}" },
  ];
  const lost = { missing: "No book {path.id}." };
  const faultsOf = (client: object, [list, read]: readonly object[] = routes) =>
    faultsOfSmallPack({ book: { envelope: { client }, routes: [list, read] } });

  test.each([
    ["error", { error: lost }],
    ["error_shapes", { error_shapes: [{ status: 404, shape: lost }] }],
    ["more_error_shapes", { more_error_shapes: [{ status: 404, shape: lost }] }],
  ])("needs it in all routes with this shape, in %s", (_key, client) => {
    expect(faultsOf(client)).toEqual([
      '"{path.id}" is empty in errors of "GET /books", which has no such path parameter; write the shape in the envelopes of the routes that have it',
    ]);
  });

  test("does not need it in a route with other errors", () => {
    const envelope = { client: { error: { text: "$message" } } };
    expect(faultsOf({ error: lost }, [{ ...routes[0], envelope }, routes[1] ?? {}])).toEqual([]);
  });

  test("is no value, which errors leave out", () => {
    expect(faultsOf({ error: { text: "$message", id: "$path.id" } })).toEqual([]);
  });
});

test("a text has the values of the problem and of the request in it", async () => {
  gateway.service.respondWith(json(422, { problems: [{ text: "Too long.", at: "name" }] }));
  const { body } = await gateway.send("GET /books/b7");
  expect(body).toEqual({ text: "title of b7: Too long.", other: "{words}" });
});

test("the seconds to wait are those of the gateway's own limit", async () => {
  gateway.service.respondWith(json(200, { id: 7, name: "Waves" }));
  let response = await gateway.send("GET /books/b7");
  for (let left = 5; left > 0 && response.status !== 429; left -= 1)
    response = await gateway.send("GET /books/b7");
  expect(response.status).toBe(429);
  expect(response.body).toEqual({ wait: Number(response.headers.get("retry-after")) });
});
