/** The description of the client's API that is served beside the page. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { Validator } from "@seriousme/openapi-schema-validator";
import { startGateway, type Gateway } from "../../support/gateway.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { PAGE_ON } from "./read-page.ts";

describe("the description of alpha, with a plan", () => {
  let gateway: Gateway;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read all of the document
  let document: any;
  beforeAll(async () => {
    gateway = await startGateway({
      ...PAGE_ON,
      CLIENTS_FILE: writeOperatorFile("billing:\n  tokens: [0123456789abcdef]\n", "clients.yaml"),
      SUNSET_FILE: writeOperatorFile(
        'announced: 2026-01-01\nstages:\n  - { end: 2035-02-01, routes: ["GET /datacenters"], clients: [billing] }\n' +
          '  - { end: 2036-02-01, routes: ["GET /vm/instances/:id"] }\n',
      ),
    });
    document = (await gateway.request("GET /v4/openapi.json", { as: null })).body;
  });

  test("is valid OpenAPI 3.1, for all clients, without a token", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    expect({ valid, errors }).toMatchObject({ valid: true });
    expect(validator.version).toBe("3.1");
  });

  test("says that a route is deprecated where the plan ends it for everybody", () => {
    expect(document.paths["/vm/instances/{id}"].get).toMatchObject({
      deprecated: true,
      "x-sunset": "2036-02-01T00:00:00.000Z",
    });
    expect(document.paths["/vm/instances"].get).not.toHaveProperty("deprecated");
  });

  test("has nothing of what the plan says about single clients", () => {
    expect(document.paths["/datacenters"].get).not.toHaveProperty("deprecated");
    for (const text of ["2035", "0123456789abcdef"])
      expect([text, JSON.stringify(document).includes(text)]).toEqual([text, false]);
  });

  test("has the headers of all responses, those of the plan among them", () => {
    const { headers } = document.paths["/vm/instances"].get.responses["200"];
    expect(Object.keys(headers)).toEqual(
      expect.arrayContaining(["X-RateLimit-Remaining", "X-V4-Equivalent", "Deprecation", "Sunset", "Link"]),
    );
    for (const { $ref } of Object.values<{ $ref: string }>(headers))
      expect(document.components.headers).toHaveProperty([$ref.split("/").at(-1) ?? ""]);
    expect(document.components.responses["401"].headers).toHaveProperty("Sunset");
  });

  test("marks calls without a counterpart, and says why", () => {
    expect(document.paths["/feedback"].post).toMatchObject({
      "x-v4-equivalent": null,
      description: "v4 has no counterpart. This call has no counterpart in the current interface.",
    });
  });
});

describe("the description of alpha", () => {
  let gateway: Gateway;
  const read = (headers = {}) => gateway.request("GET /v4/openapi.json", { as: null, headers });

  test("has no plan's headers without a plan", async () => {
    gateway = await startGateway(PAGE_ON);
    const { body } = await read();
    expect(body.components.headers).not.toHaveProperty("Sunset");
    expect(JSON.stringify(body).includes('"deprecated":true')).toBe(false);
  });

  test("may be kept for a minute, and is sent again only if it has changed", async () => {
    gateway = await startGateway(PAGE_ON);
    const { headers } = await read();
    expect(headers.get("cache-control")).toBe("public, max-age=60");
    const etag = headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    for (const value of [etag, `W/${etag}`, `"other", ${etag}`, "*"])
      expect(await read({ "if-none-match": value })).toMatchObject({ status: 304, text: "" });
    expect((await read({ "if-none-match": '"other"' })).status).toBe(200);
  });

  test("counts against the rate limit of the address", async () => {
    gateway = await startGateway({ ...PAGE_ON, RATE_LIMIT: "2/100" });
    expect([(await read()).status, (await read()).status, (await read()).status]).toEqual([200, 200, 420]);
  });
});
