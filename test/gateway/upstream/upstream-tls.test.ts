/** v4 and its login server with certificates of a private authority, and a v4 that requires one of the gateway. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { createAuthority, readCertificate, type Certificate } from "../../support/certificates.ts";
import { openGateway, type TestGateway, type TestSettings } from "../../support/gateway.ts";
import { request } from "../../support/request.ts";
import { startTlsSandbox, type TlsSandbox } from "../../support/tls-sandbox.ts";

const folder = temporaryFolder();
let authority: ReturnType<typeof createAuthority>;
let client: Certificate;
/** Accepts any client. */
let open: TlsSandbox;
/** Accepts clients with a certificate of the authority only. */
let closed: TlsSandbox;

beforeAll(async () => {
  authority = createAuthority(folder, "authority");
  client = authority.sign("gateway");
  const server = readCertificate(authority.sign("v4"));
  const ca = readCertificate(authority).cert;
  const asking = { ...server, ca, requestCert: true };
  const optional = { ...asking, rejectUnauthorized: false };
  open = await startTlsSandbox(optional, optional);
  closed = await startTlsSandbox(asking, optional);
});
afterAll(async () => {
  await open.close();
  await closed.close();
});

const start = ({ v4, login, tokens }: TlsSandbox, settings: TestSettings): Promise<TestGateway> =>
  openGateway({ UPSTREAM_URL: v4.url, AUTH_URL: login.url, ...settings }, tokens);

/** The status of an alpha and of a native request, and of an exchange of a code that the login server does not know. */
async function statusesOf(running: TestGateway, { tokens }: TlsSandbox) {
  const bearer = { as: null, headers: { authorization: `Bearer ${tokens.full}` } };
  const form = { client_id: "a", client_secret: "b", code: "c" };
  return {
    alpha: (await running.request("GET /vm/instances")).status,
    native: (await running.request("GET /vm/instances", bearer)).status,
    login: (await request(running.app, "POST /oauth/token", { raw: new URLSearchParams(form) })).status,
  };
}

describe("v4 with a certificate of a private authority", () => {
  test("is called for both kinds of client with UPSTREAM_CA, and so is the login server", async () => {
    const running = await start(open, { UPSTREAM_CA: authority.cert });
    expect(await running.readiness()).toEqual([]);
    expect(await statusesOf(running, open)).toEqual({ alpha: 200, native: 200, login: 401 });
  });

  test("is not called without it, and readiness says why", async () => {
    const running = await start(open, {});
    expect(await running.readiness()).toContainEqual(expect.stringMatching(/certificate/));
    expect(await statusesOf(running, open)).toEqual({ alpha: 500, native: 500, login: 500 });
  });
});

describe("a v4 that requires a client certificate", () => {
  test("gets it for both kinds of client; the login server does not", async () => {
    closed.v4.clients.length = 0;
    const running = await start(closed, {
      UPSTREAM_CA: authority.cert,
      UPSTREAM_CERT: client.cert,
      UPSTREAM_KEY: client.key,
    });
    expect(await running.readiness()).toEqual([]);
    expect(await statusesOf(running, closed)).toEqual({ alpha: 200, native: 200, login: 401 });
    expect(new Set(closed.v4.clients)).toEqual(new Set(["gateway"]));
    expect(new Set(closed.login.clients)).toEqual(new Set([undefined]));
  });

  test("serves no client without it", async () => {
    const running = await start(closed, { UPSTREAM_CA: authority.cert });
    expect(await running.readiness()).not.toEqual([]);
    expect(await statusesOf(running, closed)).toEqual({ alpha: 500, native: 500, login: 401 });
  });
});

describe("a start with files that can't be used fails", () => {
  const garbage = join(folder, "garbage.pem");
  const starting = (settings: TestSettings) => start(open, settings);

  test("with the setting, the file and the reason", async () => {
    writeFileSync(garbage, "garbage");
    const missing = join(folder, "missing.pem");
    const other = authority.sign("other");
    const { cert, key } = client;
    await expect(starting({ UPSTREAM_CA: missing })).rejects.toThrow(`UPSTREAM_CA: ${missing}: ENOENT`);
    await expect(starting({ UPSTREAM_CA: garbage })).rejects.toThrow(
      `UPSTREAM_CA: ${garbage}: it has no certificate`,
    );
    await expect(starting({ UPSTREAM_CERT: garbage, UPSTREAM_KEY: key })).rejects.toThrow(
      `UPSTREAM_CERT: ${garbage}: it has no certificate`,
    );
    await expect(starting({ UPSTREAM_CERT: cert, UPSTREAM_KEY: garbage })).rejects.toThrow(
      `UPSTREAM_KEY: ${garbage}: `,
    );
    await expect(starting({ UPSTREAM_CERT: cert, UPSTREAM_KEY: other.key })).rejects.toThrow(
      `UPSTREAM_KEY: ${other.key}: it is not the key of UPSTREAM_CERT`,
    );
  });
});
