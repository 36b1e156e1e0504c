/** Shapes of errors by code, and shapes that a resource or a route adds to those that it inherits. */
import { expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";

const READ = { upstream: "GET /items/{id}" };
const by = (code: string, where: string) => ({ code, shape: { [where]: "$code", text: "$message" } });

async function errorOf(client: string, code: string | undefined, status = 409) {
  const gateway = await startSmallGateway({
    client: {
      responses: {
        error: { pack: "$code", text: "$message" },
        error_shapes: [by("b", "pack_b"), { code: ["c", "missing"], shape: { pack_c: "$code" } }],
      },
    },
    upstream: {
      responses: {
        error: { code: "$code", message: "$message" },
        error_shapes: [{ code: "odd", shape: { code: "$code", other: "$message" } }],
      },
    },
    pack: { errors: { status_codes: { 404: "missing" } } },
    book: {
      envelope: { client: { more_error_shapes: [by("r", "resource")] } },
      routes: [
        { client: "GET /books/:id", ...READ },
        {
          client: "GET /own/:id",
          ...READ,
          envelope: { client: { more_error_shapes: [by("a", "route"), by("b", "route_b")] } },
        },
        {
          client: "GET /alone/:id",
          ...READ,
          envelope: { client: { error: { alone: "$code" }, more_error_shapes: [by("a", "route")] } },
        },
      ],
    },
  });
  gateway.service.respondWith(json(status, { code, message: "No.", other: "Odd." }));
  return (await gateway.send(`GET ${client}/1`)).body;
}

test.each([
  ["/books", "x", { pack: "x", text: "No." }],
  ["/books", "b", { pack_b: "b", text: "No." }],
  ["/books", "c", { pack_c: "c" }],
  ["/books", "r", { resource: "r", text: "No." }],
  ["/own", "a", { route: "a", text: "No." }],
  ["/own", "b", { route_b: "b", text: "No." }],
  ["/own", "r", { resource: "r", text: "No." }],
  ["/own", "c", { pack_c: "c" }],
  ["/alone", "a", { route: "a", text: "No." }],
  ["/alone", "b", { alone: "b" }],
])("of %s the code %s", async (path, code, expected) => {
  expect(await errorOf(path, code)).toEqual(expected);
});

test("a code of the status is a code, too", async () => {
  expect(await errorOf("/books", undefined, 404)).toEqual({ pack_c: "missing" });
});

test("an upstream's error is read by the shape of its code", async () => {
  expect(await errorOf("/books", "odd")).toEqual({ pack: "odd", text: "Odd." });
});

test.each([
  ["is chosen", [{ code: "full", shape: { full: true, text: "$message" } }], []],
  [
    "is not",
    [{ status: 409, shape: { full: true, text: "$message" } }],
    ['"code" has no effect: the errors of clients have no $code ("responses.error")'],
  ],
])("check knows whether a shape %s by the code of a check", (_what, shapes, faults) => {
  const checks = [{ message: '$response.full ? "Full."', status: 409, code: "full" }];
  expect(
    faultsOfSmallPack({
      client: { responses: { error: { text: "$message" }, error_shapes: shapes } },
      book: {
        routes: [
          { client: "GET /books/:id", ...READ, calls: [{ at: "before", upstream: "GET /a", checks }] },
        ],
      },
    }),
  ).toEqual(faults);
});
