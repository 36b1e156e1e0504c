/** A pack for another pair of APIs: nothing that people read names the pair of the included pack. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { json } from "../../support/fake-v4.ts";

/** Names of the included pack. */
const OTHER_NAMES = /\b(?:alpha|v4)\b/i;

let gateway: GatewayWithFakeV4;
beforeEach(async () => {
  gateway = await startGatewayWithFakeV4({ MAPPINGS_DIR: "test/fixtures/shop-pack" });
});
afterEach(() => gateway.stop());

const send = (call: string, body?: object) =>
  gateway.request(call.replace(" ", " /"), { headers: { authorization: "Bearer t-1" }, as: null, body });

describe("warnings of a request name the upstream as the pack does", () => {
  test.each<[string, Parameters<GatewayWithFakeV4["v4"]["respondWith"]>[0], string]>([
    ["an error", json(409, { title: "Closed" }), "new shop responded with 409"],
    ["no response", (_call, response) => void response.destroy(), "new shop GET /api/customers/3: truncated"],
    ["a response that is not an object", json(200, []), "the response is not a JSON object"],
  ])("%s", async (_what, respond, warning) => {
    gateway.v4.respondWith(respond);
    await send("GET /customers/3");
    const { warnings } = await gateway.readLastRecord();
    expect(warnings.join("\n")).toContain(warning);
    expect(warnings.join("\n")).not.toMatch(OTHER_NAMES);
  });

  test("a list of another shape", async () => {
    gateway.v4.respondWith(json(200, { rows: [] }));
    await send("GET /customers");
    const { warnings } = await gateway.readLastRecord();
    expect(warnings).toEqual(["the response is not a list of the pack's shape"]);
  });
});

test("the migration report names both sides as the pack does", async () => {
  gateway.v4.respondWith(json(200, { id: 3, name: "Ada", address: { city: "Bath" } }));
  await send("GET /customers/3");
  for (const format of ["html", "md"]) {
    const { text } = await gateway.requestAdmin(`GET /api/report?format=${format}`);
    expect(text).toContain("Migration report: from old shop to new shop");
    expect(text.replaceAll(/<style>.*?<\/style>|class="\w+"/gs, "")).not.toMatch(OTHER_NAMES);
  }
});

describe("the console", () => {
  test("gets the names of both sides from the gateway", async () => {
    const { body } = await gateway.requestAdmin("GET /api");
    expect(body.names).toEqual({ client: "old shop", upstream: "new shop" });
  });

  test("shows no other names", () => {
    const folder = "src/console/public";
    const texts = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".js"))
      // Comments, and names of metrics, classes and members in records, which are the same for all packs.
      .flatMap((name) => [
        ...readFileSync(join(folder, name), "utf8")
          .replaceAll(/\/\*.*?\*\/|\/\/.*|\$\{[^{}]*\}|alpha[-_]gateway/gs, "")
          .matchAll(/"[^"\n]*"|`[^`]*`|'[^'\n]*'/g),
      ])
      .map(([text]) => text.slice(1, -1))
      .filter((text) => OTHER_NAMES.test(text) && !/^alpha$|^(?:key )?(?:bar|key)-|^v4$|\$\{v4/.test(text));
    expect(texts).toEqual([]);
  });
});
