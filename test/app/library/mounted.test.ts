/** `alphaGateway` at the root and below a path of an Express application. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { alphaGateway, loadPack, type AlphaGateway } from "../../../src/index.ts";
import { endsWithTest, temporaryFolder } from "../../support/ends-with-test.ts";
import { envelope, json, raw, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { request } from "../../support/request.ts";
import { openRawClient } from "../../support/raw-client.ts";

let v4: FakeV4;
const gateways: AlphaGateway[] = [];
let application: RequestListener;

beforeAll(async () => {
  v4 = await startFakeV4();
  const mappings = loadPack("mappings");
  const create = (): AlphaGateway => {
    const gateway = alphaGateway({
      upstream: v4.url,
      authUrl: v4.url,
      mappings,
      dataDir: temporaryFolder(),
      logLevel: "silent",
      audit: "off",
    });
    gateways.push(gateway);
    endsWithTest(() => gateway.close());
    return gateway;
  };
  const app = express();
  app.set("name", "application");
  app.use((request, response, next) => {
    response.on("finish", () => names.push(request.app.get("name"), response.app.get("name")));
    next();
  });
  app.get("/v4/of-the-application", (_request, response) => void response.send("application"));
  app.use("/old/api", create());
  app.use(create());
  app.use(({ path }, response) => {
    left.push(path);
    response.status(418).send("application");
  });
  application = app;
});
/** Paths of requests that were left to the application. */
const left: string[] = [];

/** What the application reads of its settings once a response has ended. */
const names: unknown[] = [];

beforeEach(() => void (left.length = names.length = 0));
beforeEach(() => v4.respondWith(json(200, envelope([{ id: 7, label: "web-one" }]))));

const alpha = { headers: { authorization: "token t" } };

describe.each([
  ["at the root", ""],
  ["below a path", "/old/api"],
])("alphaGateway mounted %s", (_name, base) => {
  test("translates alpha requests", async () => {
    const response = await request(application, `GET ${base}/v4/vm/instances?page=1`, alpha);
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ vms: [{ id: 7, label: "web-one" }], page: 1 });
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(v4.calls[0]?.path).toBe("/v4/vm/instances?page=1&page_size=25");
  });

  test("leaves requests and responses objects of the application", async () => {
    await request(application, `GET ${base}/v4/vm/instances?page=1`, alpha);
    expect(names).toEqual(["application", "application"]);
  });

  test("reads the body of a request after authorization", async () => {
    v4.respondWith(json(200, { id: 7, label: "web-two" }));
    const body = { label: "web-two" };
    const response = await request(application, `PUT ${base}/v4/vm/instances/7`, { ...alpha, body });
    expect(response.status).toBe(200);
    expect(v4.calls.find(({ method }) => method === "PUT")?.json()).toEqual({ label: "web-two" });
  });

  test("forwards native requests without translation", async () => {
    const response = await request(application, `GET ${base}/v4/vm/instances?page_size=100`, {
      headers: { authorization: "Bearer t" },
    });
    expect(response.body).toEqual(envelope([{ id: 7, label: "web-one" }]));
    expect(v4.calls[0]?.path).toBe("/v4/vm/instances?page_size=100");
    expect(response.headers.get("x-content-type-options")).toBeNull();
  });

  test("redirects to the login server", async () => {
    const response = await request(application, `GET ${base}/oauth/authorize?client_id=c&scopes=vms:view`);
    expect(response.status).toBe(302);
    expect(response.headers.get("location")).toMatch(`${v4.url}/oauth/authorize?client_id=c`);
  });

  test("responds with 404 to paths of the prefix that alpha does not have", async () => {
    const response = await request(application, `GET ${base}/v4/nothing`, alpha);
    expect(response.status).toBe(404);
    expect(response.body).toEqual({ errors: [{ reason: "Not found" }] });
  });
});

describe.each([
  ["at the root", ""],
  ["below a path", "/old/api"],
])("messages that servers understand differently, to a gateway %s", (_name, base) => {
  let server: Server;
  beforeAll(async () => {
    server = createServer(application).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterAll(() => void server.close());

  test.each([
    ["two hosts", "HTTP/1.1", "Host: a\r\nHost: b\r\n\r\n"],
    ["chunks in HTTP/1.0", "HTTP/1.0", "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a coding before chunks", "HTTP/1.1", "Host: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
  ])("%s get 400, and the connection ends", async (_what, version, rest) => {
    for (const scheme of ["token", "Bearer"]) {
      const client = await openRawClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      client.send(`POST ${base}/v4/vm/instances ${version}\r\nAuthorization: ${scheme} t\r\n${rest}`);
      client.send(`GET ${base}/v4/vm/instances HTTP/1.1\r\nHost: a\r\nAuthorization: ${scheme} t\r\n\r\n`);
      client.send("POST /elsewhere HTTP/1.1\r\nHost: a\r\n\r\n");
      const text = await client.waitForEnd();
      expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
      // Below a path the application itself decides which requests the gateway gets.
      expect(base === "" ? left : []).toEqual([]);
      expect(text).toContain('{"errors":[{"reason":"This is not an HTTP request."}]}');
      expect(v4.calls).toEqual([]);
      client.close();
    }
  });
});

describe.each([
  ["at the root", ""],
  ["below a path", "/old/api"],
])("a request whose connection ends with its response, to a gateway %s", (_name, base) => {
  const head = `GET ${base}/v4/vm/instances HTTP/1.1\r\nHost: a\r\nAuthorization: token t\r\n`;

  test.each([
    ["of an application without its own handler of invalid messages", () => {}],
    [
      "of an application with one",
      (server: Server) =>
        void server.on("clientError", (_error, socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
    ],
  ])("%s gets its response, and what follows is ignored", async (_what, prepare) => {
    const server = createServer(application).listen(0, "127.0.0.1");
    prepare(server);
    await once(server, "listening");
    const client = await openRawClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    client.send(`${head}Connection: close\r\n\r\n${head}\r\n`);
    const text = await client.waitForEnd();
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
    expect(text).toContain("web-one");
    expect(v4.calls).toHaveLength(1);
    client.close();

    const other = await openRawClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    other.send("garbage\r\n\r\n");
    expect(await other.waitForEnd()).toContain("HTTP/1.1 400 Bad Request");
    other.close();
    server.close();
  });
});

test.each(["/", "/v5/vm/instances", "/oauth", "/oauth/token/", "/old/api", "/old/api/v5", "/%zz"])(
  "leaves %s to the application, without headers of its own",
  async (path) => {
    const response = await request(application, `GET ${path}`, alpha);
    expect([response.status, response.text]).toEqual([418, "application"]);
    expect(response.headers.get("x-content-type-options")).toBeNull();
    expect(response.headers.get("x-request-id")).toBeNull();
  },
);

test("keeps what a response varies by for the application, for v4 and for the gateway", async () => {
  const app = express()
    .use((_request, response, next) => {
      response.vary("X-Tenant");
      next();
    })
    .use(gateways.at(-1) as AlphaGateway);
  const varyOf = async (): Promise<string | null> =>
    (await request(app, "GET /v4/x", { headers: { authorization: "Bearer t" } })).headers.get("vary");
  v4.respondWith(json(200, {}, { vary: "Accept" }), raw("", "reset"));
  expect(await varyOf()).toBe("Accept, Authorization, X-Tenant");
  expect(await varyOf()).toBe("Authorization, X-Tenant");
});

test("leaves a path of the prefix that an earlier route of the application has", async () => {
  expect((await request(application, "GET /v4/of-the-application", alpha)).text).toBe("application");
});

test("lets the loggers of an application read the headers of a response", async () => {
  const seen: unknown[] = [];
  const app = express()
    .disable("x-powered-by")
    .use((_request, response, next) => {
      response.on("finish", () => seen.push(response.getHeader("content-type")));
      next();
    })
    .use(gateways.at(-1) as AlphaGateway);
  await request(app, "GET /v4/vm/instances?page=1", alpha);
  expect(seen).toEqual([expect.stringContaining("application/json")]);
});
