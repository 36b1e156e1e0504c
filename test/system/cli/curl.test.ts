/** The printed commands, run by bash and curl against a server: it gets the request that was recorded, and no other. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { curl, type CurlCommand } from "../../../src/compare/dry-run/curl.ts";
import { recordCurls } from "../../../src/compare/dry-run/record-curls.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";

interface Received {
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

let received: Received[] = [];
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url: target, headers } = request;
  received.push({ method, target, headers, body: await text(request) });
  response.end();
}

const server = createServer((request, response) => void receive(request, response));
let address = "";

beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  received = [];
});
afterAll(() => {
  server.close();
});

const execute = promisify(execFile);

/** What the server gets from a command, as a person pastes it. */
async function paste(command: string, variables: Record<string, string> = {}): Promise<readonly Received[]> {
  const env = {
    PATH: process.env["PATH"],
    HOME: "/nonexistent",
    GATEWAY: address,
    V4: address,
    TOKEN: "S3CRET",
    ...variables,
  };
  await execute("bash", ["-c", command], { env });
  return received;
}

const GET: CurlCommand = {
  base: "$GATEWAY",
  method: "GET",
  path: "/",
  credentials: { scheme: "token" },
  headers: {},
  body: undefined,
};

const pack = loadPack("mappings");
const sample = sampleRecord("a");

/** The command for a recorded request of a client. */
const recorded = (alpha: Partial<AuditRecord["alpha"]>): string =>
  recordCurls({ ...sample, alpha: { ...sample.alpha, path: "/v4/vm/instances", query: "", ...alpha } }, pack)
    .alpha;

describe("a command sends the recorded target", () => {
  test.each([
    ["/v4/vm/instances/[1-3]", undefined],
    ["/v4/vm/instances/{5,6}", undefined],
    ["/v4/vm/instances/[", undefined],
    ["//other.example/x", undefined],
    ["/@other.example/", undefined],
    ["/-X", undefined],
    ["/a/../b/%2e%2E/./c", undefined],
    ["/$(id)`id`'\"\\!;&|<>", undefined],
    ["/?page=1&label=a;b#c", "/?page=1&label=a;b%23c"],
    ["/5#/rebuild", "/5%23/rebuild"],
    ["/a b\tc\r\nX: y", "/a%20b%09c%0D%0AX:%20y"],
    ["/é", "/%c3%a9"],
  ])("%j", async (path, sent = path) => {
    const requests = await paste(recorded({ method: "DELETE", path }));
    expect(requests.map(({ method, target }) => `${method} ${target}`)).toEqual([`DELETE ${sent}`]);
    expect(requests[0]?.headers["authorization"]).toBe("token S3CRET");
  });

  test.each([
    "munity://x/",
    "http://other.example/v4/vm",
    "*",
    "",
    "@other.example/",
    ".other.example/",
    "?a",
  ])("or there is no command: %j", async (path) => {
    const command = recorded({ method: "DELETE", path });
    expect(command).toMatch(/^# no command: the target ".*" is not a path$/);
    expect(await paste(command)).toEqual([]);
  });

  test.each(["//127.0.0.1/x", "/@127.0.0.1/"])("or nothing without an address: %j", async (path) => {
    const command = `${recorded({ path })} || true`;
    expect(await paste(command, { GATEWAY: "", all_proxy: address })).toEqual([]);
  });
});

describe("a command sends the recorded body", () => {
  test.each([
    "@/etc/hostname",
    "@-",
    "<!-- -->",
    "--next",
    "-K/etc/passwd",
    "line\nline\r\n",
    "' $(id) `id` \\ \" !",
    "\u001b[2J\u009b\u202e\u2028",
    "é 🎉",
    "&a=%40",
    "",
  ])("%j", async (body) => {
    const requests = await paste(recorded({ method: "POST", body }));
    expect(requests.map(({ method, body: sent }) => [method, sent])).toEqual([["POST", body]]);
    expect(requests[0]?.headers["content-type"]).toBe("application/json");
  });

  test("of a GET as a GET", async () => {
    const requests = await paste(recorded({ method: "GET", body: { a: 1 } }));
    expect(requests.map(({ method, body }) => [method, body])).toEqual([["GET", '{"a":1}']]);
  });

  test("and a HEAD without one, without waiting for a body of the response", async () => {
    const requests = await paste(recorded({ method: "HEAD", body: { a: 1 } }));
    expect(requests.map(({ method, body }) => [method, body])).toEqual([["HEAD", ""]]);
  });

  test("or reads it from a file if no argument can have it", () => {
    expect(recorded({ method: "POST", body: "a\0b" })).toMatch(/ --data-binary @body\.bin$/);
    expect(recorded({ method: "POST", body: { a: "a\0b" } })).toMatch(/ --data-raw '\{"a":"a\\u0000b"\}'$/);
    const body = { truncated: true, bytes: 9, text: "{" };
    expect(recorded({ method: "POST", body })).toMatch(/ --data-binary @body\.json$/);
  });
});

describe("a command sends the recorded filter", () => {
  test.each([
    ["@/etc/hostname", undefined],
    ['{"label":"\u009b\u202e"}', Buffer.from('{"label":"\u009b\u202e"}').toString("latin1")],
    ["", undefined],
    ["  ", ""],
    ["; $(id) 'a' \"b\"", undefined],
  ])("%j", async (filter, sent = filter) => {
    const [request] = await paste(recorded({ filter }));
    expect(request?.headers["x-filter"]).toBe(sent);
  });

  test.each(["{}\r\nX-Other: 1", "{}\n", "a\0b", "\u001b[2J"])(
    "or there is no command: %j",
    async (filter) => {
      expect(recorded({ filter })).toBe("# no command: the header X-Filter has a control character");
    },
  );
});

describe("a command sends a token where the dialect has it", () => {
  test.each([
    [{ scheme: "token" }, { authorization: "token S3CRET" }, "/"],
    [{ scheme: "a`id`$HOME" }, { authorization: "a`id`$HOME S3CRET" }, "/"],
    [{ header: "X-Key" }, { "x-key": "S3CRET" }, "/"],
    [{ cookie: "key" }, { cookie: "key=S3CRET" }, "/"],
    [{ query: "k[]" }, {}, "/?k%5B%5D=S3CRET"],
    [
      { basic: "username" as const },
      { authorization: `Basic ${Buffer.from("S3CRET:").toString("base64")}` },
      "/",
    ],
    [
      { basic: "password" as const },
      { authorization: `Basic ${Buffer.from(":S3CRET").toString("base64")}` },
      "/",
    ],
  ])("%j", async (credentials, headers, target) => {
    const [request, ...others] = await paste(curl({ ...GET, credentials }));
    expect(request).toMatchObject({ headers, target });
    expect(others).toEqual([]);
    received = [];
    // With the token in the command, as a start of the gateway prints it.
    expect(await paste(curl({ ...GET, credentials, token: "S3CRET" }), { TOKEN: "" })).toEqual([request]);
  });
});

test("a command runs no other command in a shell that does not support the quotes of bash", async () => {
  const body = "\u001b'; touch /tmp/alpha-gateway-touched; echo '";
  const { stdout } = await execute("sh", [
    "-c",
    `curl() { printf '%s\\n' "$#"; }; touch() { echo touched; }; ${recorded({ method: "POST", body })}`,
  ]);
  expect(stdout).toBe("10\n");
});
