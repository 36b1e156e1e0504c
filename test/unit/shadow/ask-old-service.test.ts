import { afterEach, expect, test } from "@jest/globals";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { AlphaRequest } from "../../../src/pipeline/context.ts";
import { OldService } from "../../../src/shadow/ask-old-service.ts";

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

test("the old service sees the address of the client, not one that it claims", async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    seen.push(headers);
    response.end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push(() => (server.closeAllConnections(), server.close()));
  const old = new OldService(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  open.push(() => old.close());
  const request = {
    id: "r1",
    method: "GET",
    path: "/things",
    query: "",
    address: "192.0.2.7",
    headers: { "x-forwarded-for": ["10.0.0.1"], host: ["api.example.com"] },
  } as unknown as AlphaRequest;
  expect(await old.ask(request)).toMatchObject({ status: 200 });
  expect(seen).toMatchObject([
    { "x-forwarded-for": "192.0.2.7", "x-forwarded-host": "api.example.com", "x-request-id": "r1" },
  ]);
});
