/** Streams under faults: records that cannot be stored, slow uploads, and downloads that are not read. */
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { acceptGoodTokens, plain, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { startListeningGateway, type ListeningGateway } from "../../support/gateway.ts";
import { openRawClient, type RawClient } from "../../support/raw-client.ts";

const THUMBNAIL = "/v4/account/clients/0123456789abcdef0123/thumbnail";

let v4: FakeV4;
let gateway: ListeningGateway;
async function start(settings: Readonly<Record<string, string>>): Promise<void> {
  v4 = await startFakeV4();
  gateway = await startListeningGateway({ AUDIT: "full", UPSTREAM_URL: v4.url, ...settings });
}

describe("AUDIT_DURABILITY=strict while the audit store fails", () => {
  test.each<[string, Record<string, string>]>([
    ["with a length", { "content-length": "1000000" }],
    ["in chunks", {}],
  ])("aborts a file %s, so that none is complete without a record", async (_how, headers) => {
    await start({ AUDIT_DURABILITY: "strict", DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" });
    v4.respondWith(plain(200, Buffer.alloc(1_000_000, 7), { "content-type": "image/png", ...headers }));
    const got = fetch(gateway.url + THUMBNAIL, { headers: { authorization: "token t" } });
    await expect(got.then((response) => response.arrayBuffer())).rejects.toThrow(/terminated|fetch failed/);
  });
});

describe("64 slow clients", () => {
  const clients: RawClient[] = [];
  const timers: NodeJS.Timeout[] = [];
  afterEach(() => {
    for (const timer of timers.splice(0)) clearInterval(timer);
    for (const client of clients.splice(0)) client.close();
  });

  async function begin(head: string): Promise<RawClient> {
    const client = await openRawClient(gateway.url);
    client.socket.on("error", () => {});
    clients.push(client);
    client.send(head);
    return client;
  }
  const upload = (authorization: string): string =>
    `POST /v4/support/tickets/7/attachments HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n` +
    "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000\r\n\r\n";

  /** Expects that others are served in both dialects, the circuit is closed, and the gateway is ready. */
  async function expectServed(): Promise<void> {
    const bearer = { as: null, headers: { authorization: "Bearer good-another" } };
    expect(await gateway.request("GET /vm/instances", { as: "good-another" })).toMatchObject({ status: 200 });
    expect(await gateway.request("GET /anything", bearer)).toMatchObject({ status: 200 });
    expect(await (await fetch(`${gateway.adminUrl}/readyz`)).json()).toMatchObject({ reasons: [] });
  }

  const native = (authorization: string): string =>
    `POST /v4/anything HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Length: 1000\r\n\r\n`;
  const madeUp = (scheme: string) => (index: number) => `${scheme} made-up-${index}`;
  const good = (scheme: string) => () => `${scheme} good`;

  test.each<[string, (authorization: string) => string, (index: number) => string]>([
    ["uploads of alpha with made-up tokens", upload, madeUp("token")],
    ["uploads of alpha with one good token", upload, good("token")],
    ["uploads of alpha without credentials that can be read", upload, () => "Basic x"],
    ["native uploads with made-up tokens", native, madeUp("Bearer")],
    ["native uploads with one good token", native, good("Bearer")],
    ["native uploads with many good tokens", native, (index) => `Bearer good-${index}`],
  ])("%s that drip keep nobody waiting", async (_whose, headOf, tokenOf) => {
    await start({ UPSTREAM_TIMEOUT_MS: "1500", UPSTREAM_CONNECTIONS: "64" });
    v4.respondWith(acceptGoodTokens);
    await gateway.request("GET /vm/instances", { as: "good" });
    await Promise.all(Array.from({ length: 64 }, (_, index) => begin(headOf(tokenOf(index)))));
    timers.push(setInterval(() => clients.forEach((client) => client.send("a")), 200));
    for (let round = 0; round < 5; round += 1) {
      await expectServed();
      await wait(400);
    }
    const files = v4.calls.filter(({ path }) => path.includes("attachments"));
    expect(files.filter(({ headers }) => headers.authorization !== "Bearer good")).toEqual([]);
  });

  const LONG = plain(200, Buffer.alloc(12_000_000), { "content-type": "image/png", "x-oauth-scopes": "*" });
  test.each<[string, string, (index: number) => string]>([
    ["files of alpha with made-up tokens", THUMBNAIL, madeUp("token")],
    ["files of alpha with one good token", THUMBNAIL, good("token")],
    ["native downloads with made-up tokens", "/v4/long", madeUp("Bearer")],
    ["native downloads with one good token", "/v4/long", good("Bearer")],
    ["native downloads with many good tokens", "/v4/long", (index) => `Bearer good-${index}`],
  ])("%s that are not read block nobody", async (_whose, path, tokenOf) => {
    await start({ UPSTREAM_TIMEOUT_MS: "1500", UPSTREAM_CONNECTIONS: "64" });
    v4.respondWith((call, response) =>
      (/long|thumbnail/.test(call.path) ? LONG : acceptGoodTokens)(call, response),
    );
    await gateway.request("GET /vm/instances", { as: "good" });
    await Promise.all(
      Array.from({ length: 64 }, async (_, index) => {
        const client = await begin("");
        client.socket.pause();
        client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${tokenOf(index)}\r\n\r\n`);
      }),
    );
    for (let round = 0; round < 5; round += 1) {
      await expectServed();
      await wait(400);
    }
    expect(v4.calls.filter(({ path }) => /long|thumbnail/.test(path)).length).toBeGreaterThan(0);
  });
});
