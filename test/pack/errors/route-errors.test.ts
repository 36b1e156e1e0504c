/** Errors of routes that have shapes and statuses of their own, whatever the upstream answers. */
import { describe, expect, test } from "@jest/globals";
import { json, neverRespond, plain, raw, type Responder } from "../../support/fake-v4.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { request, type RequestOptions } from "../../support/request.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const SETTINGS = { MAPPINGS_DIR: "examples/shipping/pack" };

/** A gateway with a short timeout, for responses that never come. */
const gateway = startForTests(() => startGatewayWithFakeV4(SETTINGS));
const hasty = startForTests(() => startGatewayWithFakeV4({ ...SETTINGS, UPSTREAM_TIMEOUT_MS: "300" }));

const send = ({ app }: GatewayWithFakeV4, call: string, options?: RequestOptions) =>
  request(app, call, { ...options, headers: { authorization: "Bearer t-1" } });

const HTML = "<html><body>nginx at 10.1.2.3</body></html>";

/** What an upstream without a text for an error may answer. */
const WITHOUT_TEXT: readonly (readonly [what: string, answer: (status: number) => Responder])[] = [
  ["no body", (status) => plain(status, "")],
  ["no body, as JSON", (status) => plain(status, "", { "content-type": "application/json" })],
  ["a page", (status) => plain(status, HTML, { "content-type": "text/html" })],
  ["an empty object", (status) => json(status, {})],
  ["an empty list", (status) => json(status, [])],
  ["null", (status) => json(status, null)],
  ["half of an object", (status) => plain(status, '{"message":', { "content-type": "application/json" })],
  ["another type of text", (status) => json(status, { message: { text: "No." } })],
];

/** The calls of the pack, with their error for an object that is not found. */
const CALLS = [
  ["GET /docks", { missing: "Not found", call: { method: "GET", path: "/docks" } }],
  ["GET /docks/4", { missing: "Not found", call: { method: "GET", path: "/docks/4" } }],
  ["DELETE /docks/4", { error: { message: "Not found" } }],
  ["GET /bookings/4", { errors: { base: ["Not found"] } }],
] as const;

describe("an upstream's 404 without a text stays a 404, in the shape of the route", () => {
  test.each(CALLS.flatMap((call) => WITHOUT_TEXT.map(([what, answer]) => [...call, what, answer] as const)))(
    "%s gets %j for %s",
    async (call, expected, _what, answer) => {
      let asked = 0;
      gateway.v4.respondWith((received, response) => {
        asked += 1;
        return answer(404)(received, response);
      });
      const response = await send(gateway, call);
      expect([response.status, response.body, asked]).toEqual([404, expected, 1]);
    },
  );
});

test.each(WITHOUT_TEXT)(
  "the 404 of a call before the main call with %s has the status and code of the pack",
  async (_what, answer) => {
    gateway.v4.respondWith(answer(404));
    const extended = await send(gateway, "POST /bookings/4/extend", { body: { hours: 3 } });
    expect([extended.status, extended.body]).toEqual([
      409,
      { errors: { base: ["Not found"] }, code: "not_booked" },
    ]);
    const created = await send(gateway, "POST /bookings", { body: { driver: "Ada", dock: 9 } });
    expect([created.status, created.body]).toEqual([
      410,
      [{ at: "dock", is: "There is no such object.", code: "no_dock" }],
    ]);
  },
);

const FAILED = expect.stringMatching(/^The service could not process this request/);

test.each<[what: string, answer: Responder]>([
  ["closes the connection", raw("", "reset")],
  ["sends half a response", raw("HTTP/1.1 404 Not Found\r\nContent-Length: 90\r\n\r\n{", "end")],
  ["never responds", neverRespond],
  ["sends no HTTP", raw("no such protocol\r\n\r\n", "end")],
  ["sends a page with 502", plain(502, HTML, { "content-type": "text/html" })],
])(
  "if the upstream %s, the error has the shape of the route, and says nothing of the upstream",
  async (_what, answer) => {
    hasty.v4.respondWith(answer);
    const created = await send(hasty, "POST /bookings", { body: { driver: "Ada" } });
    expect([created.status >= 500, created.body]).toEqual([true, [{ at: "base", is: FAILED }]]);
    const extended = await send(hasty, "POST /bookings/4/extend", { body: { hours: 3 } });
    expect([extended.status >= 500, extended.body]).toEqual([true, { errors: { base: [FAILED] } }]);
    expect(created.text + extended.text).not.toMatch(/nginx|10\.1\.2\.3/);
    hasty.v4.respondWith(json(200, { id: 4 }));
    await Promise.all([1, 2, 3, 4].map(() => send(hasty, "GET /docks/4")));
  },
);

test("an error with hundreds of problems is cut", async () => {
  const problems = Array.from({ length: 500 }, (_, index) => ({
    source: { pointer: "/hours" },
    detail: `Too long: ${index}.`,
  }));
  gateway.v4.respondWith(json(422, { problems }));
  const { status, body } = await send(gateway, "POST /bookings", { body: { driver: "Ada" } });
  expect([status, body.length]).toEqual([422, 100]);
});
