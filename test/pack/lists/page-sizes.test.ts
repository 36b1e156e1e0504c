/** Sizes of pages that clients ask for over HTTP, where the pack corrects them. */
import { beforeAll, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { request } from "../../support/request.ts";

let gateway: GatewayWithFakeV4;
beforeAll(async () => {
  gateway = await startGatewayWithFakeV4({
    MAPPINGS_DIR: "examples/cursors/pack",
    PUBLIC_URL: "https://songs.example",
  });
  gateway.v4.respondWith(json(200, { results: [], total: 0 }));
});

const get = async (path: string) => {
  const before = gateway.v4.calls.length;
  const response = await request(gateway.app, `GET ${path}`, { headers: { authorization: "Bearer good" } });
  // The catalog of plans is read in the background.
  const sent = gateway.v4.calls
    .slice(before)
    .flatMap(({ path: each }) => (each.startsWith("/offers") ? [] : [each]));
  return { ...response, sent };
};

test.each([
  ["limit=3", 3],
  ["limit=4", 3],
  ["limit=99999999999999999999999", 3],
  ["limit=0", 2],
  ["limit=-1", 2],
  ["limit=1.5", 2],
  ["limit=all", 2],
  ["limit=", 2],
  ["", 2],
])("a client with ?%s gets a page of %i", async (query, size) => {
  const { status, body, sent } = await get(`/songs?${query}`);
  expect([status, body, sent]).toEqual([
    200,
    { songs: [], limit: size, next: null },
    [`/tracks?page=1&size=${size}`],
  ]);
});

test("pages after the first have the corrected size as well", async () => {
  const { sent } = await get("/songs?page=3&limit=1000");
  expect(sent).toEqual(["/tracks?page=3&size=3"]);
});

test.each(["page=0", "page=-1", "page=1.5", "page=last", "page="])(
  "a client with ?%s gets the first page",
  async (query) => {
    const { status, sent } = await get(`/songs?${query}`);
    expect([status, sent]).toEqual([200, ["/tracks?page=1&size=2"]]);
  },
);

test("a page that no list has is a 400", async () => {
  const { status, sent } = await get(`/songs?page=${"9".repeat(30)}`);
  expect([status, sent]).toEqual([400, []]);
});

test.each(["page=0&page=0", "limit=2&limit=3", "limit=all&limit=all"])(
  "%s is a 400: it does not say which one counts",
  async (query) => {
    const { status, sent } = await get(`/songs?${query}`);
    expect([status, sent]).toEqual([400, []]);
  },
);
