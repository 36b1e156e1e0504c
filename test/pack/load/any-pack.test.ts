/** The optional parts of a pack, and names that both sides may share. */
import { describe, expect, test } from "@jest/globals";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { createDryRun } from "../../../src/compare/dry-run/dry-run.ts";
import { packIn } from "../../support/packs.ts";

const send = async (folder: string, method: string, path: string) => {
  const run = createDryRun(loadPack(folder), {
    call: async () => ({ status: 200, headers: {}, bytes: Buffer.from("{}"), ms: 0 }),
    close: async () => {},
  });
  try {
    return (await run.send({ method, path })).response;
  } finally {
    run.catalogs.stop();
  }
};

describe("a method that a path does not have", () => {
  test("is a 405 that lists the methods of the path", async () => {
    const { status, headers } = await send("examples/shop/pack", "PUT", "/customers/3");
    expect([status, headers["allow"]]).toEqual([405, "GET, HEAD, PATCH, DELETE"]);
  });

  test("is a 404 for clients that do not know the status 405", async () => {
    const { status, headers } = await send("examples/library/pack", "PATCH", "/old/books/3");
    expect([status, headers["allow"]]).toEqual([404, undefined]);
  });

  test("is a 404 where the path has no method at all", async () =>
    expect((await send("examples/shop/pack", "PUT", "/nothing")).status).toBe(404));
});

describe("requests in the upstream's own dialect", () => {
  test("have a scheme that clients do not use", () =>
    expect(packIn("examples/library/pack").nativeScheme).toBe("Token"));

  test("are not forwarded where both sides have the same scheme", () =>
    expect(packIn("examples/billing/pack").nativeScheme).toBeUndefined());
});

test("the response header with the upstream request has the pack's name, or is not sent", async () => {
  const { headers } = await send("examples/shop/pack", "GET", "/customers/3");
  expect(headers["x-new-shop"]).toBe("GET /api/customers/3");
  const without = await send("examples/billing/pack", "GET", "/invoices/3");
  expect(Object.entries(without.headers).filter(([, value]) => value.includes("/invoices/3"))).toEqual([]);
});

test("an error has the phrase of its status, or of the class of a status without one", async () => {
  const titleOf = async (status: number): Promise<unknown> => {
    const run = createDryRun(packIn("examples/shop/pack"), {
      call: async () => ({ status, headers: {}, bytes: Buffer.from("{}"), ms: 0 }),
      close: async () => {},
    });
    const { response } = await run.send({ method: "GET", path: "/orders/7" });
    run.catalogs.stop();
    return [response.status, (JSON.parse(response.body) as { title: unknown }).title];
  };
  expect(await titleOf(409)).toEqual([409, "Conflict"]);
  expect(await titleOf(490)).toEqual([490, "Bad Request"]);
});

test("a query may have question marks", async () => {
  const paths: string[] = [];
  const run = createDryRun(packIn("examples/billing/pack"), {
    async call({ path }) {
      paths.push(path);
      return { status: 200, headers: {}, bytes: Buffer.from('{"content":[],"totalElements":0}'), ms: 0 };
    },
    close: async () => {},
  });
  await run.send({ method: "GET", path: "/invoices?q=what?&page=2" });
  run.catalogs.stop();
  expect(paths).toEqual(["/v2/invoices?page=2&size=2&text=what%3F"]);
});
