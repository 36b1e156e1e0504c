/** A pack may give different errors one status. What an error means does not depend on it. */
import { expect, test } from "@jest/globals";
import { json, plain, type Responder } from "../../support/fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";

async function start(statuses: object): Promise<SmallGateway> {
  const gateway = await startSmallGateway({ pack: { errors: { statuses } } });
  return gateway;
}

test.each<[string, Responder, unknown]>([
  ["limit has Retry-After", json(429, {}, { "retry-after": "7" }), "7"],
  ["limit without headers has Retry-After", json(429, {}), expect.stringMatching(/^[1-9]\d*$/)],
  ["rejection has none", json(404, {}), null],
  ["failure has none", json(500, {}), null],
])("with one status for all errors, v4's %s", async (_name, response, retryAfter) => {
  const { send, service } = await start({ default: 400 });
  service.respondWith(response);
  const { status, headers } = await send("GET /books/7");
  expect([status, headers.get("retry-after")]).toEqual([400, retryAfter]);
});

test("a failure has the reason of a failure, whatever its status is", async () => {
  const { send, service } = await start({ default: 400 });
  service.respondWith(plain(500, "<html>"));
  expect((await send("GET /books/7")).text).toContain("The service could not process this request.");
  service.respondWith(plain(404, "<html>"));
  expect((await send("GET /books/7")).text).toContain("Not found");
});
