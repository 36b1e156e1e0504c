/** `examples/old-service`: it answers as the gateway does over the same data, unless it is told to misbehave. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { startGateway, type Gateway, type GatewayRequest } from "../../support/gateway.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { request } from "../../support/request.ts";

interface Options {
  readonly slow?: number;
  readonly noise?: boolean;
  readonly fault?: string;
  readonly log?: string;
}

let gateway: Gateway;
let createOldService: (options: Options & { readonly upstream: string }) => Server;
let server: Server;
beforeAll(async () => {
  ({ createOldService } = await import(
    new URL("../../../examples/old-service/server.mjs", import.meta.url).href
  ));
  gateway = await startGateway();
});

async function start(options: Options = {}): Promise<void> {
  server = createOldService({ upstream: gateway.sandbox.url, ...options });
  await once(server.listen(0, "127.0.0.1"), "listening");
}
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

/** Sends a request of an alpha client to the old service. */
function send(call: string, { as = "full", ...options }: GatewayRequest = {}) {
  const [method, path] = call.split(" ");
  const tokens: Readonly<Record<string, string>> = gateway.sandbox.tokens;
  const authorization = as === null ? {} : { authorization: `token ${tokens[as] ?? as}` };
  const { port } = server.address() as AddressInfo;
  return request(`http://127.0.0.1:${port}`, `${method} /v4${path}`, {
    ...options,
    headers: { ...authorization, ...options.headers },
  });
}

const filter = (value: unknown): GatewayRequest => ({ headers: { "x-filter": JSON.stringify(value) } });

/** Sends one request to both. */
async function compare(call: string, options: GatewayRequest = {}) {
  const [old, ours] = [await send(call, options), await gateway.request(call, options)];
  return { old: { status: old.status, body: old.body }, ours: { status: ours.status, body: ours.body } };
}

describe("without flags", () => {
  test.each<[string, GatewayRequest]>([
    ["GET /vm/instances", {}],
    ["GET /vm/instances?page=2", {}],
    ["GET /vm/instances?page=9", {}],
    ["GET /vm/instances/", filter({ "+order-by": "label", "+order": "desc" })],
    ["GET /vm/instances", filter({ datacenter: "newark" })],
    ["GET /vm/instances", filter({ "+or": [{ label: { "+contains": "api" } }, { group: "shop" }] })],
    ["GET /vm/instances", filter({ nothing: 1 })],
    ["GET /vm/instances", filter({ "+order-by": "status" })],
    ["GET /vm/instances", filter({ datacenter: "mars" })],
    ["GET /vm/instances", { headers: { "x-filter": "{" } }],
    ["GET /vm/instances?page=0", {}],
    ["GET /vm/instances/1", {}],
    ["GET /vm/instances/none", {}],
    ["GET /vm/instances", { as: null }],
    ["GET /vm/instances", { as: "invented" }],
    ["GET /vm/instances", { as: "dnsOnly" }],
    ["GET /datacenters", { as: null }],
    ["GET /datacenters/newark", {}],
    ["GET /datacenters/mars", {}],
    ["GET /vm/distributions", {}],
    ["GET /vm/distributions?page=2", {}],
    ["GET /vm/distributions/vm/debian9", {}],
    ["GET /vm/types", {}],
    ["GET /vm/types/g6-standard-1", {}],
    ["POST /vm/instances", { body: {} }],
    ["POST /vm/instances", { body: { datacenter: "mars", type: "g6-nanode-1" } }],
    ["DELETE /vm/instances/1", {}],
    ["GET /nothing", {}],
  ])("has the gateway's answer to %s %j", async (call, options) => {
    await start();
    const { old, ours } = await compare(call, options);
    expect(old).toEqual(ours);
  });

  test("has the gateway's answer for each instance", async () => {
    await start();
    for (const page of [1, 2, 3]) {
      const { vms } = (await send(`GET /vm/instances?page=${page}`)).body;
      for (const { id } of vms) {
        const { old, ours } = await compare(`GET /vm/instances/${id}`);
        expect(old).toEqual(ours);
      }
    }
  });

  test("creates and deletes instances of the same store", async () => {
    await start();
    const body = { datacenter: "newark", type: "g6-nanode-1", label: "from-old" };
    const { status, body: made } = await send("POST /vm/instances", { body });
    expect([status, made.label]).toEqual([200, "from-old"]);
    expect((await gateway.request(`GET /vm/instances/${made.id}`)).body).toEqual(made);
    expect(await send(`DELETE /vm/instances/${made.id}`)).toMatchObject({ status: 200, body: {} });
    expect((await gateway.request(`GET /vm/instances/${made.id}`)).body.status).toBe("deleting");
  });
});

describe("with a flag", () => {
  const withoutNoise = ({ updated: _updated, total_transfer: _total, ...vm }: Record<string, unknown>) => vm;
  const byId = (vms: Record<string, unknown>[]) =>
    vms.toSorted((one, other) => Number(one["id"]) - Number(other["id"]));

  test("--noise changes a counter and a time at each call, and the order where none is asked for", async () => {
    await start({ noise: true });
    const [first, second] = [await send("GET /vm/instances"), await send("GET /vm/instances")];
    expect(first.body.vms[0].total_transfer).not.toBe(second.body.vms[0].total_transfer);
    expect(first.body.vms.map(({ id }: { id: number }) => id)).not.toEqual(
      second.body.vms.map(({ id }: { id: number }) => id),
    );
    const ours = (await gateway.request("GET /vm/instances")).body;
    expect(byId(first.body.vms).map(withoutNoise)).toEqual(ours.vms.map(withoutNoise));
    const { old, ours: ordered } = await compare("GET /vm/instances", filter({ "+order-by": "label" }));
    expect(old.body.vms.map(withoutNoise)).toEqual(ordered.body.vms.map(withoutNoise));
  });

  test.each([
    ["status", "running!"],
    ["alerts.cpu.threshold", 91],
    ["backups.enabled", false],
    ["distribution", null],
  ])("--fault %s has a wrong value there, and nowhere else", async (fault, value) => {
    await start({ fault });
    const { old, ours } = await compare("GET /vm/instances/5201");
    const [name = "", ...rest] = fault.split(".");
    expect(old.body).not.toEqual(ours.body);
    expect(rest.reduce((object, member) => object[member], old.body[name])).toBe(value);
    const { [name]: _wrong, ...others } = old.body;
    expect(ours.body).toMatchObject(others);
  });

  test("--slow and --log delay and note each request", async () => {
    const log = join(temporaryFolder(), "old.log");
    await start({ slow: 10, log });
    await send("GET /datacenters");
    await send("GET /vm/instances?page=2");
    expect(readFileSync(log, "utf8")).toBe("GET /v4/datacenters\nGET /v4/vm/instances?page=2\n");
  });
});
