/** Settings that leave a gateway less safe than it could be: its log says so, once. */
import { describe, expect, test } from "@jest/globals";
import { createGateway, type Gateway, type GatewayOptions } from "../../../src/index.ts";
import { endsWithTest, temporaryFolder } from "../../support/ends-with-test.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

interface Line {
  readonly code?: string;
  readonly message: string;
}

/** Starts a gateway without a v4. @returns it, and its lines of the log with a code */
async function start(
  client: object,
  options: GatewayOptions,
  code: string,
): Promise<{ gateway: Gateway; lines: readonly Line[] }> {
  const lines: Line[] = [];
  function keep(context: object, message: string): void {
    const line = { ...context, message } as Line;
    if (line.code === code) lines.push(line);
  }
  const gateway = createGateway({
    mappings: writeSmallPack({ client }),
    upstreamUrl: "http://127.0.0.1:1",
    port: 0,
    adminPort: "off",
    audit: "off",
    dataDir: temporaryFolder(),
    shutdownGraceMs: 200,
    logger: { debug: keep, info: keep, warn: keep, error: keep, fatal: keep },
    ...options,
  });
  await gateway.start();
  endsWithTest(() => gateway.stop());
  return { gateway, lines };
}

const CREDENTIALS = { credentials: { header: "X-Key" } };

describe("a gateway that clients need no credentials for, and that accepts every host name, is named at the start", () => {
  const PUBLIC_URL = "https://books.example.org";
  test.each<[string, object, GatewayOptions, number]>([
    ["every address, and no PUBLIC_URL", {}, { host: "0.0.0.0" }, 1],
    ["every address, and PUBLIC_URL", {}, { host: "0.0.0.0", publicUrl: PUBLIC_URL }, 0],
    ["a loopback address", {}, { host: "127.0.0.1" }, 0],
    ["client credentials", CREDENTIALS, { host: "0.0.0.0" }, 0],
  ])("%s", async (_case, client, options, warnings) => {
    const { lines } = await start(client, options, "AG_HOST_NOT_CHECKED");
    expect(lines).toHaveLength(warnings);
    for (const line of lines)
      expect(line).toMatchObject({ host: "0.0.0.0", message: expect.stringMatching(/Set PUBLIC_URL/) });
  });
});

describe("a proxy that TRUST_PROXY does not name is named with its first request", () => {
  const FORWARDED_FOR = { "x-forwarded-for": "203.0.113.9" };
  test.each<[string, Record<string, string>, GatewayOptions, number]>([
    ["X-Forwarded-For, without TRUST_PROXY", FORWARDED_FOR, {}, 1],
    ["Forwarded, without TRUST_PROXY", { forwarded: "for=203.0.113.9" }, {}, 1],
    ["X-Forwarded-For, from another proxy", FORWARDED_FOR, { trustProxy: "192.0.2.1" }, 1],
    ["X-Forwarded-For, from a trusted proxy", FORWARDED_FOR, { trustProxy: "127.0.0.1" }, 0],
    ["neither header", {}, {}, 0],
  ])("%s", async (_case, headers, options, warnings) => {
    const { gateway, lines } = await start(CREDENTIALS, options, "AG_PROXY_NOT_TRUSTED");
    for (let n = 0; n < 3; n += 1) await fetch(`${gateway.url}/books/7`, { headers });
    expect(lines).toHaveLength(warnings);
    for (const line of lines)
      expect(line).toMatchObject({
        address: "127.0.0.1",
        message: expect.stringMatching(/set TRUST_PROXY/),
      });
  });
});
