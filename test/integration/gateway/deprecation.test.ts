/** The headers that announce alpha's end: RFC 9745 and RFC 8594. */
import { afterEach, expect, test } from "@jest/globals";
import { startGateway, type Gateway } from "../../support/gateway.ts";

let gateway: Gateway;
afterEach(() => gateway.stop());

const reported = async (call: string): Promise<(string | null)[]> => {
  const { headers } = await gateway.request(call);
  return ["deprecation", "sunset", "link"].map((name) => headers.get(name));
};

test("responses have no deprecation headers by default", async () => {
  gateway = await startGateway();
  expect(await reported("GET /vm/instances")).toEqual([null, null, null]);
});

test("each alpha response has Deprecation, Sunset and Link if they are configured", async () => {
  gateway = await startGateway({
    DEPRECATION_DATE: "2026-01-01",
    SUNSET_DATE: "2027-06-30",
    SUNSET_LINK: "https://example.org/leaving-alpha",
  });
  const deprecationHeaders = [
    `@${Date.UTC(2026, 0, 1) / 1000}`,
    "Wed, 30 Jun 2027 00:00:00 GMT",
    '<https://example.org/leaving-alpha>; rel="sunset"',
  ];
  for (const call of ["GET /vm/instances", "GET /datacenters", "GET /nothing", "POST /vm/instances"]) {
    expect(await reported(call)).toEqual(deprecationHeaders);
  }
});

test("native responses have no deprecation headers", async () => {
  gateway = await startGateway({ SUNSET_DATE: "2027-06-30" });
  const authorization = `Bearer ${gateway.sandbox.tokens.full}`;
  const { status, headers } = await gateway.request("GET /vm/instances", {
    as: null,
    headers: { authorization },
  });
  expect([status, headers.get("sunset")]).toEqual([200, null]);
});
