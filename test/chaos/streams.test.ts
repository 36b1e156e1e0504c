/** Streams under faults: records that can't be kept, uploads that drip, downloads that nobody reads. */
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { byToken, plain, startFakeV4, type FakeV4 } from "../support/fake-v4.ts";
import { startGateway, type Gateway } from "../support/gateway.ts";
import { rawClient, type RawClient } from "../support/raw-client.ts";

const THUMBNAIL = "/v4/account/clients/0123456789abcdef0123/thumbnail";
const PICTURE = Buffer.alloc(50_000, 7);

let v4: FakeV4;
let gateway: Gateway;
afterEach(async () => {
  await gateway.stop();
  await v4.close();
});
async function start(settings: Readonly<Record<string, string>>): Promise<void> {
  v4 = await startFakeV4();
  gateway = await startGateway({ UPSTREAM_URL: v4.url, ...settings });
}

describe("AUDIT_DURABILITY=strict while the audit store fails", () => {
  const authorization = "token t";
  test.each<[string, string, Record<string, string>]>([
    ["with a length", "GET", { "content-type": "image/png", "content-length": "50000" }],
    ["in chunks", "GET", { "content-type": "image/png" }],
    ["to HEAD", "HEAD", { "content-type": "image/png", "content-length": "50000" }],
  ])("a file %s is broken off, never whole without a record", async (_how, method, headers) => {
    await start({ AUDIT_DURABILITY: "strict", DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" });
    v4.answers(plain(200, PICTURE, headers));
    const got = fetch(gateway.service.url + THUMBNAIL, { method, headers: { authorization } });
    await expect(got.then((answer) => answer.arrayBuffer())).rejects.toThrow(/terminated|fetch failed/);
  });
});

describe("64 clients that are slow on purpose", () => {
  const clients: RawClient[] = [];
  const timers: NodeJS.Timeout[] = [];
  afterEach(() => {
    for (const timer of timers.splice(0)) clearInterval(timer);
    for (const client of clients.splice(0)) client.close();
  });

  async function begin(head: string): Promise<RawClient> {
    const client = await rawClient(gateway.service.url);
    client.socket.on("error", () => {});
    clients.push(client);
    client.send(head);
    return client;
  }
  const upload = (authorization: string): string =>
    `POST /v4/support/tickets/7/attachments HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n` +
    "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000\r\n\r\n";

  /** Others are served in both lanes, nobody takes v4 for one that fails, and the gateway is ready. */
  async function expectServed(): Promise<void> {
    const bearer = { as: null, headers: { authorization: "Bearer good-another" } };
    expect(await gateway.ask("GET /vm/instances", { as: "good-another" })).toMatchObject({ status: 200 });
    expect(await gateway.ask("GET /anything", bearer)).toMatchObject({ status: 200 });
    expect(await (await fetch(`${gateway.service.adminUrl}/readyz`)).json()).toMatchObject({ reasons: [] });
  }

  test.each<[string, (index: number) => string]>([
    ["made-up tokens", (index) => `token made-up-${index}`],
    ["one good token", () => "token good"],
    ["no credentials that can be read", () => "Basic x"],
  ])("uploads that drip with %s keep nobody waiting", async (_whose, tokenOf) => {
    await start({ UPSTREAM_TIMEOUT_MS: "1500", UPSTREAM_CONNECTIONS: "64" });
    v4.answers(byToken);
    await gateway.ask("GET /vm/instances", { as: "good" });
    await Promise.all(Array.from({ length: 64 }, (_, index) => begin(upload(tokenOf(index)))));
    timers.push(setInterval(() => clients.forEach((client) => client.send("a")), 200));
    for (let round = 0; round < 5; round += 1) {
      await expectServed();
      await wait(400);
    }
    const reached = v4.calls.filter(({ path }) => path.includes("attachments"));
    expect(reached.filter(({ headers }) => headers.authorization !== "Bearer good")).toEqual([]);
  });
});
