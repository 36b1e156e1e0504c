/** Links with a host over HTTP: it is that of the setting, and never one that a client names. */
import { describe, expect, test } from "@jest/globals";
import { SettingsError } from "../../../src/base/settings/settings.ts";
import { json } from "../../support/fake-v4.ts";
import { startGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { request } from "../../support/request.ts";

const settings = { MAPPINGS_DIR: "examples/cursors/pack" };

async function getLinks(PUBLIC_URL: string, headers: Record<string, string> = {}) {
  const gateway = await startGatewayWithFakeV4({ ...settings, PUBLIC_URL, TRUST_PROXY: "127.0.0.1" });
  gateway.v4.respondWith(json(200, { results: [{ id: 1 }, { id: 2 }], total: 3 }));
  const { body, headers: received } = await request(gateway.app, "GET /songs?q=a", {
    headers: { authorization: "Bearer good", ...headers },
  });
  return { next: body.next, link: received.get("link")?.split(", ")[1] };
}

describe("links with a host", () => {
  test.each([
    ["https://songs.example", "https://songs.example/songs?q=a&page=2"],
    ["https://example.com:8443/old/", "https://example.com:8443/old/songs?q=a&page=2"],
  ])("start with PUBLIC_URL %s", async (publicUrl, next) => {
    expect(await getLinks(publicUrl)).toEqual({ next, link: `<${next}>; rel="next"` });
  });

  test("have no host of the request, not even of a trusted proxy", async () => {
    const headers = {
      host: "evil.example",
      forwarded: "host=evil.example",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "http",
    };
    const { next } = await getLinks("https://songs.example", headers);
    expect(next).toBe("https://songs.example/songs?q=a&page=2");
  });

  test("need PUBLIC_URL at start", async () => {
    const started = startGatewayWithFakeV4(settings);
    await expect(started).rejects.toThrow(SettingsError);
    await expect(started).rejects.toThrow("PUBLIC_URL is missing");
  });
});
