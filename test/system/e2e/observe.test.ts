/** `alpha-gateway serve` with LEGACY_URL alone, and `coverage` over what it has recorded. */
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { fingerprint, tokenHash } from "../../../src/gateway/auth/token-cache.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { run, serve, type Serving } from "./program.ts";

/** An old service with books: it knows two clients. */
let old: Server;
let url: string;
beforeEach(async () => {
  const clients = new Set(["key first-client-1", "key second-client-2"]);
  old = createServer((request, response) => {
    const send = (status: number, body: unknown): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    request.resume().on("end", () => {
      const path = (request.url ?? "").split("?")[0] ?? "";
      if (!clients.has(request.headers.authorization ?? "")) return send(401, { problems: [] });
      if (/^\/old\/books(?:\/\d+(?:\/cover)?)?$/.test(path)) return send(200, { number: 1 });
      return send(404, { problems: [] });
    });
  }).listen(0, "127.0.0.1");
  await once(old, "listening");
  url = `http://127.0.0.1:${(old.address() as AddressInfo).port}`;
});
afterEach(async () => {
  old.closeAllConnections();
  old.close();
});

const PACK = "examples/library/pack";

async function ask({ url: gateway }: Serving, path: string, token = "first-client-1", body?: object) {
  const response = await fetch(gateway + path, {
    headers: { authorization: `key ${token}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return response.status;
}

test("a gateway in front of the old service alone records its calls, and coverage says what a pack would do with them", async () => {
  const folder = temporaryFolder();
  const gateway = await serve(folder, { env: { LEGACY_URL: url } });
  const ready = await fetch(`${gateway.admin}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([200, { status: "ready", reasons: [] }]);
  for (let page = 1; page <= 6; page += 1) expect(await ask(gateway, `/old/books?page=${page}`)).toBe(200);
  expect(await ask(gateway, "/old/books", "first-client-1", { shelf: "a/1" })).toBe(200);
  expect(await ask(gateway, "/old/books/17/cover")).toBe(200);
  expect(await ask(gateway, "/old/books", "first-client-1", { title: "no shelf" })).toBe(200);
  expect(await ask(gateway, "/old/books/4", "second-client-2")).toBe(200);
  expect(await ask(gateway, "/old/nothing")).toBe(404);
  expect(await ask(gateway, "/old/books", "made-up-token")).toBe(401);
  gateway.signal("SIGHUP");
  expect(await ask(gateway, "/old/books/5", "second-client-2")).toBe(200);
  gateway.signal("SIGTERM");
  const { code, out, err } = await gateway.ended;
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toContain(`Old API   ${url}`);
  expect(out).toContain(
    `Observing: every request is passed to ${url} unchanged, and recorded with its bodies.`,
  );
  expect(out).toContain(`alpha-gateway coverage --from ${folder} --pack FOLDER`);

  const text = await run(["coverage", "--from", folder, "--pack", PACK]).ended;
  expect(text.code).toBe(0);
  expect(text.out).toContain("81.81 % of the calls would be served: 9 of 11\n");
  expect(text.out).toContain("50 % of the clients would be served completely: 1 of 2\n");
  expect(text.out).toContain("GET /old/books/:id/cover: no route of the pack has this path");
  expect(text.out).toContain("POST /books: shelf: ");
  expect(text.out).toContain("1  the old service answered with an error");
  expect(text.out).toContain("1  the token was not accepted");

  const gate = ["coverage", "--from", folder, "--pack", PACK, "--fail-below", "99%"];
  // Both come from one network: without names they are one client.
  expect((await run(gate).ended).code).toBe(2);
  const clients = join(temporaryFolder(), "clients.yaml");
  const nameOf = (token: string): string => `${token}: { tokens: [${fingerprint(tokenHash(token))}] }\n`;
  writeFileSync(clients, nameOf("first-client-1") + nameOf("second-client-2"));
  expect((await run([...gate, "--clients-file", clients]).ended).code).toBe(1);
  const report = await run(["report", "--data-dir", folder, "--mappings-dir", PACK]).ended;
  expect([report.code, report.out]).toEqual([0, expect.stringContaining("not begun")]);
}, 60_000);

test("a gateway that observes does not read a pack in its folder, and needs no v4 in production", async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "mappings"), "this is no folder");
  const gateway = await serve(temporaryFolder(), { cwd, env: { LEGACY_URL: url, NODE_ENV: "production" } });
  expect(await ask(gateway, "/old/books")).toBe(200);
});

test("plain http to another machine is refused at the start, since credentials go there", async () => {
  const { code, err } = await run(["serve"], { env: { LEGACY_URL: "http://old.example.com" } }).ended;
  expect(code).toBe(1);
  expect(err).toContain("LEGACY_URL: http://old.example.com is plain http to another machine");
});
