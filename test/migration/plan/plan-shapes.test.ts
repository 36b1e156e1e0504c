/** What the plan does to responses of packs with other shapes: errors with codes, other statuses, wrapped objects. */
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { allBut } from "../../support/fake-time.ts";
import { json, plain } from "../../support/fake-v4.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";
import type { SmallPack } from "../../support/small-pack.ts";

let gateway: SmallGateway;
beforeEach(() => {
  jest.useFakeTimers({ now: new Date("2026-06-01T10:30:00Z"), doNotFake: allBut("Date") });
});
afterEach(() => {
  jest.useRealTimers();
});

const startWith = async (plan: string, pack: SmallPack): Promise<void> => {
  const SUNSET_FILE = writeOperatorFile(`announced: 2026-01-01\n${plan}`);
  gateway = await startSmallGateway(pack, { SUNSET_FILE, PUBLIC_URL: "http://127.0.0.1" });
};

describe("an error of the plan", () => {
  const WITH_CODES: SmallPack = {
    client: { responses: { error: { message: "$message", code: "$code", status: "$status" } } },
  };

  test.each([
    ["end: 2026-05-01", 410, "sunset"],
    [`stages: [{ brown_out: "0 10 * * *", for: 1h, from: 2026-05-01, status: 503 }]`, 503, "brown_out"],
  ])("has a code where the shape of the pack has a place for one: %s", async (plan, status, code) => {
    await startWith(plan, WITH_CODES);
    const response = await gateway.send("GET /books/7");
    expect(response.status).toBe(status);
    expect(response.body).toEqual({ message: expect.stringMatching(/^Error: /), code, status });
  });

  test("has its own status whatever the pack makes of classes of statuses", async () => {
    await startWith("end: 2026-05-01", { pack: { errors: { statuses: { "4XX": 400, default: 500 } } } });
    expect((await gateway.send("GET /books/7")).status).toBe(410);
  });

  test("has the status that the pack has for exactly this one", async () => {
    await startWith("end: 2026-05-01", { pack: { errors: { statuses: { 410: 404 } } } });
    expect((await gateway.send("GET /books/7")).status).toBe(404);
  });
});

describe("a field brown-out", () => {
  const PLAN = `stages: [{ field: book.title, brown_out: "0 10 * * *", for: 1h, from: 2026-05-01 }]`;
  const BOOK = {
    routes: [
      { client: "GET /books", upstream: "GET /items", response: "list" },
      { client: "GET /books/:id", upstream: "GET /items/{id}" },
      { client: "DELETE /books/:id", upstream: "DELETE /items/{id}", response: "none" },
    ],
  };

  test("finds objects and items of lists in their wrappers", async () => {
    await startWith(PLAN, {
      client: {
        responses: {
          object: { $name: "$object" },
          item: { entry: "$object" },
          list: { data: { $list: "$items" }, title: "all" },
        },
      },
      book: BOOK,
    });
    gateway.service.respondWith(json(200, { id: 7, name: "Waves" }));
    expect((await gateway.send("GET /books/7")).body).toEqual({ book: { id: 7 } });
    gateway.service.respondWith(json(200, [{ id: 7, name: "Waves" }]));
    const { body, headers } = await gateway.send("GET /books");
    expect(body).toEqual({ data: { books: [{ entry: { id: 7 } }] }, title: "all" });
    expect(headers.get("x-field-brown-out")).toBe("book.title");
  });

  test("takes nothing from a 304, which has no object", async () => {
    await startWith(PLAN, {
      client: {
        responses: { object: { book: "$object" } },
        headers: { request: { "If-None-Match": "If-None-Match" } },
      },
      book: BOOK,
    });
    gateway.service.respondWith(plain(304, ""));
    const { status, text, headers } = await gateway.send("GET /books/7", {
      headers: { "if-none-match": '"a1"' },
    });
    expect([status, text, headers.get("x-field-brown-out")]).toEqual([304, "", null]);
  });

  test("finds objects inside other objects and in lists of them, and entries of catalogs", async () => {
    await startWith(
      `stages: [
        { field: part.size, brown_out: "0 10 * * *", for: 1h, from: 2026-05-01 },
        { field: shelf.room, brown_out: "0 10 * * *", for: 1h, from: 2026-05-01 },
      ]`,
      {
        book: {
          ...BOOK,
          fields: {
            id: "id",
            size: "size",
            "inside.parts": { upstream: "parts", object: "part" },
            shelf: { upstream: "place", catalog: "shelf" },
            shelf_id: { upstream: "place", catalog: "shelf", id_only: true },
          },
        },
        others: {
          part: { fields: { size: "size", part: { upstream: "part", object: "part" } } },
          shelf: {
            list: "shelves",
            fields: { id: "id", room: "room" },
            catalog: { upstream: [{ request: "GET /places" }], stub: '{ "id": $id, "room": "hall" }' },
            routes: [{ client: "GET /shelves", catalog: true, response: "list" }],
          },
        },
      },
    );
    const sent = { id: 7, size: 1, place: "p1", parts: [{ size: 2, part: { size: 3 } }, { size: 4 }] };
    const shown = {
      id: 7,
      size: 1,
      inside: { parts: [{ part: { part: null } }, { part: null }] },
      shelf: { id: "p1" },
      shelf_id: "p1",
    };
    gateway.service.respondWith(json(200, sent));
    const { body, headers } = await gateway.send("GET /books/7");
    expect(body).toEqual(shown);
    expect(headers.get("x-field-brown-out")).toBe("part.size, shelf.room");
    gateway.service.respondWith(json(200, [sent, sent]));
    expect((await gateway.send("GET /books")).body).toEqual([shown, shown]);
  });

  test("finds objects in the results for many ids", async () => {
    const success = { id: "$id", title: "of the result", book: "$object" };
    const bulk = {
      parameter: "id",
      ids: '$split($query.ids, ",")',
      most: 3,
      success,
      list: { all: "$items" },
    };
    await startWith(PLAN, {
      book: { routes: [{ client: "GET /some", upstream: "GET /items/{id}", bulk }] },
    });
    gateway.service.respondWith(json(200, { id: 7, name: "Waves" }));
    expect((await gateway.send("GET /some?ids=7")).body).toEqual({
      all: [{ id: "7", title: "of the result", book: { id: 7 } }],
    });
  });

  test("keeps numbers that no double holds, and responses without an object", async () => {
    await startWith(PLAN, { book: BOOK });
    gateway.service.respondWith((_call, response) => {
      response.setHeader("content-type", "application/json");
      response.end('{"id":12345678901234567890,"name":"Waves"}');
    });
    expect((await gateway.send("GET /books/7")).text).toBe('{"id":12345678901234567890}');
    gateway.service.respondWith(json(200, {}));
    expect((await gateway.send("DELETE /books/7")).status).toBe(200);
  });
});
