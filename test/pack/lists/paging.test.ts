/** Pages over HTTP: what the upstream is asked for, and what headers, the audit and browsers get. */
import { beforeAll, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { json, type Responder } from "../../support/fake-v4.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { request } from "../../support/request.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";

const TOTAL = 8;

/** Tickets after a cursor, which is the number of the last ticket before. */
const respond: Responder = (call, response) => {
  const { searchParams } = new URL(call.path, "http://upstream.invalid");
  const start = Number(searchParams.get("cursor") ?? 0);
  const end = Math.min(TOTAL, start + Number(searchParams.get("limit")));
  const data = Array.from({ length: end - start }, (_, index) => ({ id: start + index + 1, title: "a" }));
  json(200, { data, meta: { next: end < TOTAL ? String(end) : null, count: TOTAL } })(call, response);
};

let gateway: GatewayWithFakeV4;
beforeAll(async () => {
  gateway = await startGatewayWithFakeV4({
    ...RECORDING,
    MAPPINGS_DIR: "examples/cursors/pack",
    PUBLIC_URL: "https://old.example",
    CORS_ORIGINS: "https://app.example",
    SUNSET_FILE: writeOperatorFile("announced: 2026-01-31\npolicy: https://docs.example/sunset\n"),
  });
  gateway.v4.respondWith(respond);
});

const get = async (path: string, headers: Record<string, string> = {}) => {
  const before = gateway.v4.calls.length;
  const response = await request(gateway.app, `GET ${path}`, {
    headers: { authorization: "Bearer good", ...headers },
  });
  // The catalog of plans is read in the background.
  const sent = gateway.v4.calls
    .slice(before)
    .flatMap(({ path: each }) => (each.startsWith("/offers") ? [] : [each]));
  return { ...response, sent };
};

test("a page comes from a walk along the upstream's cursors", async () => {
  const { status, body, sent } = await get("/tickets?page=3&per_page=3");
  expect([status, sent]).toEqual([200, ["/tickets?limit=5", "/tickets?cursor=5&limit=4"]]);
  expect(body).toEqual([
    { number: 7, subject: "a" },
    { number: 8, subject: "a" },
  ]);
});

test("links keep other parameters of the query, and the other links of the gateway", async () => {
  const { headers } = await get("/tickets?lang=de%26x&page=2");
  expect(headers.get("x-total-count")).toBe("8");
  expect(headers.get("link")?.split(", ")).toEqual([
    '<https://docs.example/sunset>; rel="sunset"',
    '</tickets?limit=4>; rel="successor-version"',
    '</tickets?lang=de%26x&per_page=2>; rel="first"',
    '</tickets?lang=de%26x&page=1&per_page=2>; rel="prev"',
    '</tickets?lang=de%26x&page=3&per_page=2>; rel="next"',
    '</tickets?lang=de%26x&page=4&per_page=2>; rel="last"',
  ]);
});

test.each([
  ["//tickets", "/tickets"],
  ["///tickets", "/tickets"],
])("a link of the path %s names no host", async (path, linked) => {
  const { headers } = await get(`${path}?page=2`);
  const links = headers.get("link") ?? "";
  expect(links).toContain(`<${linked}?page=3&per_page=2>; rel="next"`);
  expect(links).not.toContain("<//");
});

test("browsers may read the headers about pages", async () => {
  const { headers } = await get("/tickets", { origin: "https://app.example" });
  expect(headers.get("access-control-expose-headers")).toMatch(/\bLink, X-Total-Count\b/);
});

test.each([
  ["page=0", "page must be one integer, 1 or greater."],
  ["page=1.5", "page must be one integer, 1 or greater."],
  ["page=1&page=2", "page must be one integer, 1 or greater."],
  ["page=99999999999999999999", "page must be at most 10."],
  ["per_page=0", "per_page must be one integer, 1 or greater."],
  ["per_page=6", "per_page must be at most 5."],
  ["per_page=", "per_page must be one integer, 1 or greater."],
])("%s is rejected before the upstream is called", async (query, message) => {
  const { status, body, sent } = await get(`/tickets?${query}`);
  expect([status, body, sent]).toEqual([400, { message }, []]);
});

test("the record has all requests, and its rows are explained", async () => {
  await get("/tickets?page=3&per_page=3");
  const record = await gateway.readLastRecord();
  expect(record.v4.map(({ path }: { path: string }) => path)).toEqual([
    "/tickets?limit=5",
    "/tickets?cursor=5&limit=4",
  ]);
  const { body } = await gateway.requestAdmin(`GET /api/audit/${record.id}/explain`);
  expect(body.note).toContain("the gateway read one or more of them");
  expect(body.answer[0]).toMatchObject({ field: "[0].number", value: 7 });
});

test("pages of the upstream that never fill a page are an error, after a bounded number of requests", async () => {
  let calls = 0;
  gateway.v4.respondWith((call, response) => {
    calls += 1;
    json(200, { data: [], meta: { next: `page ${calls}`, count: 8 } })(call, response);
  });
  const { status, sent } = await get("/tickets");
  expect([status, sent.length]).toEqual([500, 100]);
  const { warnings } = await gateway.readLastRecord();
  expect(warnings).toEqual(["the list can't be read: more than 100 pages are needed"]);
  gateway.v4.respondWith(respond);
});

test.each([
  ["a next cursor that is the one of the page", "again", 2, "the cursor of a page is the next one, too"],
])("%s is an error at once", async (_what, next, calls, text) => {
  gateway.v4.respondWith(json(200, { data: [{ id: 1, title: "a" }], meta: { next, count: 8 } }));
  const { status, sent } = await get("/tickets");
  expect([status, sent.length]).toEqual([500, calls]);
  expect((await gateway.readLastRecord()).warnings).toEqual([`the list can't be read: ${text}`]);
  gateway.v4.respondWith(respond);
});

test.each<[string, unknown]>([
  ["an object", { after: 1 }],
  ["a list", ["a"]],
  ["a boolean", false],
  ["a text of 1001 characters", "c".repeat(1001)],
  ["half a character", "\ud800"],
])("a next cursor that is %s makes the list invalid", async (_what, next) => {
  gateway.v4.respondWith(json(200, { data: [{ id: 1, title: "a" }], meta: { next, count: 1 } }));
  const { status, body, sent } = await get("/tickets");
  expect([status, Object.keys(body), sent.length]).toEqual([500, ["message"], 1]);
  gateway.v4.respondWith(respond);
});

test("an error of a later page is the error of the request", async () => {
  gateway.v4.respondWith(respond, json(404, { message: "gone" }));
  const { status, body } = await get("/tickets?page=3&per_page=3");
  expect([status, body]).toEqual([404, { message: "gone" }]);
  gateway.v4.respondWith(respond);
});
