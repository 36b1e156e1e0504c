/** `createGateway`: whole gateways inside a program. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import {
  createGateway,
  loadPack,
  PackError,
  SettingsError,
  StateUnavailableError,
  type Gateway,
  type GatewayOptions,
  type MappingPack,
} from "../../../src/index.ts";
import { startSandbox, type Sandbox } from "../../../src/sandbox/create-sandbox.ts";
import { endsWithTest, temporaryFolder } from "../../support/ends-with-test.ts";

let sandbox: Sandbox;
let pack: MappingPack;

beforeAll(async () => {
  sandbox = await startSandbox();
  endsWithTest(() => sandbox.close());
  pack = loadPack("mappings");
});

/** A gateway on free ports with a data folder of its own. */
function create(options: GatewayOptions = {}): Gateway {
  const gateway = createGateway({
    upstreamUrl: sandbox.url,
    mappings: pack,
    port: 0,
    adminPort: 0,
    dataDir: temporaryFolder(),
    logLevel: "silent",
    shutdownGraceMs: 200,
    ...options,
  });
  endsWithTest(() => gateway.stop());
  return gateway;
}

const getInstances = (gateway: Gateway): Promise<Response> =>
  fetch(`${gateway.url}/v4/vm/instances`, { headers: { authorization: `token ${sandbox.tokens.full}` } });

/** The statuses of the audit records, newest first. */
async function recordedStatuses(gateway: Gateway): Promise<number[]> {
  const response = await fetch(`${gateway.adminUrl}/api/audit`);
  const { records } = (await response.json()) as { records: { alpha: { status: number } }[] };
  return records.map(({ alpha }) => alpha.status);
}

describe("createGateway", () => {
  test("serves alpha on its own listeners between start and stop", async () => {
    const gateway = create();
    await gateway.start();

    expect(await gateway.ready()).toEqual([]);
    expect(await (await getInstances(gateway)).json()).toMatchObject({ vms: expect.any(Array), page: 1 });
    expect((await fetch(`${gateway.adminUrl}/readyz`)).status).toBe(200);

    const { url } = gateway;
    await gateway.stop();
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  test("runs several gateways in one program, each with its own settings and stores", async () => {
    const strict = { auditDurability: "strict" } as const;
    const [one, other] = [
      create({ ...strict, rateLimit: { points: 1, seconds: 60 } }),
      create({ ...strict, auditBodyLimit: 1024 }),
    ];
    await Promise.all([one.start(), other.start()]);

    expect((await getInstances(one)).status).toBe(200);
    expect((await getInstances(one)).status).toBe(420);
    expect((await getInstances(other)).headers.get("x-ratelimit-limit")).toBe("1600");
    expect(await recordedStatuses(one)).toEqual([420, 200]);
    expect(await recordedStatuses(other)).toEqual([200]);

    await one.stop();
    expect((await getInstances(other)).status).toBe(200);
  });

  test("starts once, however often start is called", async () => {
    const gateway = create();
    await Promise.all([gateway.start(), gateway.start()]);
    const { url } = gateway;
    await gateway.start();

    expect(gateway.url).toBe(url);
  });

  test("before start it has no addresses and is not ready, and stop does nothing", async () => {
    const gateway = create();

    expect(() => gateway.url).toThrow(expect.objectContaining({ code: "AG_GATEWAY_NOT_RUNNING" }));
    expect(() => gateway.adminUrl).toThrow("await gateway.start() first");
    expect(await gateway.ready()).toEqual(["not started"]);
    await gateway.stop();
  });

  test("stop waits for a start in progress, and ends what it started", async () => {
    const gateway = create();
    const starting = gateway.start();
    expect(await gateway.ready()).toEqual(["starting"]);
    await gateway.stop();
    await starting;

    expect(await gateway.ready()).toEqual(["not started"]);
  });

  test("starts again after it was stopped, also while it stops", async () => {
    const gateway = create();
    await gateway.start();
    const stopping = gateway.stop();
    await gateway.start();
    await stopping;

    expect((await getInstances(gateway)).status).toBe(200);
  });

  test("a start that fails closes everything, and can be repeated", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const gateway = create({ port: (other.address() as AddressInfo).port });
    await expect(gateway.start()).rejects.toMatchObject({ message: expect.stringContaining("EADDRINUSE") });
    expect(await gateway.ready()).toEqual(["not started"]);

    other.close();
    await once(other, "close");
    await gateway.start();
    expect((await getInstances(gateway)).status).toBe(200);
  });

  test("a data folder that cannot be used makes start fail", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");

    await expect(create({ dataDir: file, audit: "off" }).start()).rejects.toThrow(StateUnavailableError);
  });

  test("uses the embedded sandbox only if the options say so", async () => {
    const gateway = create({ upstreamUrl: undefined, sandbox: true });
    await gateway.start();
    expect((await fetch(`${gateway.url}/v4/datacenters`)).status).toBe(200);

    expect(() => createGateway({})).toThrow(/upstreamUrl: it is required; .* set sandbox to true/);
  });
});

describe("options", () => {
  test.each<[keyof GatewayOptions, GatewayOptions]>([
    ["upstream", { upstream: "https://a.example", upstreamUrl: "https://b.example" }],
    ["mappings", { upstream: "https://a.example", mappings: "a", mappingsDir: "b" }],
    ["mappings", { upstream: "https://a.example", mappings: {} as MappingPack }],
    ["words", { upstream: "https://a.example", mappings: undefined, words: { vm: "Not A Word" } }],
  ])("%s: a contradiction or an invalid value is an error", (name, options) => {
    expect(() => createGateway(options)).toThrow(new RegExp(`^ +${name}:`, "mi"));
  });

  test("words are given to loadPack where the pack is loaded already", () => {
    expect(() => create({ words: { vm: "acme" } })).toThrow("words: the pack in mappings is loaded already");
  });

  test("the environment is not read", async () => {
    process.env["RATE_LIMIT"] = "7/60";
    try {
      const gateway = create();
      await gateway.start();
      expect((await getInstances(gateway)).headers.get("x-ratelimit-limit")).toBe("1600");
    } finally {
      delete process.env["RATE_LIMIT"];
    }
  });
});

describe("loadPack", () => {
  test("lists the routes of the pack, in the service's words", () => {
    expect(pack.routes).toContain("GET /vm/instances/:id");
    expect(loadPack("mappings", { words: { vm: "acme", orch: "orch" } }).routes).toContain(
      "GET /acme/instances/:id",
    );
  });

  test("throws one error with every problem of the pack", () => {
    expect(() => loadPack(temporaryFolder())).toThrow(PackError);
    expect(() => loadPack("mappings", { words: "vm" })).toThrow(SettingsError);
  });
});
