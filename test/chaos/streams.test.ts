/** Streams under faults: records that can't be kept, uploads that drip, downloads that nobody reads. */
import { afterEach, describe, expect, test } from "vitest";
import { plain, startFakeV4, type FakeV4 } from "../support/fake-v4.ts";
import { startGateway, type Gateway } from "../support/gateway.ts";

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
