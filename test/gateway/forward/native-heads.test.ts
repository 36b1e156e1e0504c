/** The native proxy: the head of a response that v4 may send, but that programs read in different ways. */
import { beforeEach, expect, test } from "@jest/globals";
import { raw } from "../../support/fake-v4.ts";
import { startListeningGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { openRawClient } from "../../support/raw-client.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const gateway = startForTests(() => startListeningGatewayWithFakeV4());
beforeEach(() => {
  gateway.v4.onRequestHead(undefined);
});

/** Sends a request, and returns the lines of its response's head, each byte as one character. */
async function readHead(response: string, version = "1.1", connection = "close"): Promise<string[]> {
  gateway.v4.respondWith(raw(Buffer.from(response, "latin1")));
  const client = await openRawClient(gateway.url);
  const credentials = "Authorization: Bearer good";
  client.send(`GET /v4/x HTTP/${version}\r\nHost: x\r\nConnection: ${connection}\r\n${credentials}\r\n\r\n`);
  try {
    const [head = ""] = (await client.waitForEnd()).split("\r\n\r\n");
    return head.split("\r\n");
  } finally {
    client.close();
  }
}

/** `caf\u00e9` in UTF-8, each byte as one character. */
const UTF8 = "caf\xc3\xa9";

test("the first line of a header with a single value is used (RFC 9110 5.3)", async () => {
  const names = ["Content-Type", "Location", "ETag", "Expires", "Last-Modified", "Retry-After", "Age"];
  const lines = names.flatMap((name) => [`${name}: first`, `${name}: second`]);
  const head = await readHead(
    `HTTP/1.1 200 OK\r\n${lines.join("\r\n")}\r\nX-List: a\r\nX-List: b\r\nContent-Length: 2\r\n\r\nok`,
  );
  expect(head).toEqual(expect.arrayContaining(names.map((name) => `${name.toLowerCase()}: first`)));
  expect(head).toContain("x-list: a, b");
  expect(head.join()).not.toContain("second");
});

test("spaces after a value are not part of it (RFC 9112 5)", async () => {
  const head = await readHead("HTTP/1.1 200 OK\r\nX-Own: a b \t \r\nContent-Length: 2\r\n\r\nok");
  expect(head).toContain("x-own: a b");
});

test("the reason phrase is that of the status, whatever v4's is", async () => {
  for (const phrase of ["Fine", UTF8, "caf\xe9"])
    expect((await readHead(`HTTP/1.1 200 ${phrase}\r\nContent-Length: 2\r\n\r\nok`))[0]).toBe(
      "HTTP/1.1 200 OK",
    );
});

test.each([UTF8, "caf\xe9"])("the bytes of the file name %j are passed on", async (name) => {
  const line = `attachment; filename="${name}"`;
  const length = "Content-Length: 2";
  for (const lines of [
    `${length}\r\nContent-Disposition: ${line}`,
    `Content-Disposition: ${line}\r\n${length}`,
  ])
    expect(await readHead(`HTTP/1.1 200 OK\r\n${lines}\r\n\r\nok`)).toContain(`content-disposition: ${line}`);
});

test("a client of HTTP/1.0 is informed that the end of the connection is the end of the body", async () => {
  for (const response of [
    "HTTP/1.1 200 OK\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
  ])
    expect(await readHead(response, "1.0", "keep-alive")).toContain("connection: close");
});
