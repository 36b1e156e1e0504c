/** The old service and the translation are compared on live requests, whichever of them answers the client. */
import { describe, expect, jest, test } from "@jest/globals";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { neverRespond } from "../../support/fake-v4.ts";
import {
  RECORDING,
  openGateway,
  openListeningGateway,
  startListeningGateway,
  type TestGateway,
  type TestSettings,
} from "../../support/gateway.ts";
import { packHash } from "../../../src/pack/load/loaded-pack.ts";
import { readPack } from "../../../src/pack/load/load-pack.ts";
import type { SandboxOptions } from "../../../src/sandbox/create-sandbox.ts";
import { copyPack } from "../../support/pack-copy.ts";
import { proxyTo, startOldService, type TestOldService } from "../../support/old-service.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import type { TestResponse } from "../../support/request.ts";
import { waitFor } from "../../support/wait-for.ts";

const CLIENTS = "billing: { user_agents: [billing/*] }\nreports: { user_agents: [reports/*] }\n";
const LIST = "GET /vm/instances";

interface TwoServices {
  readonly gateway: TestGateway;
  /** To start another gateway in front of the same services. */
  readonly settings: TestSettings;
  readonly tokens: Readonly<Record<string, string>>;
  readonly rolloutFile: string;
  /** The old service, and what stands in front of it. */
  readonly old: { readonly url: string; readonly service: TestOldService };
  /** Requests that the old service got. */
  readonly calls: readonly string[];
  /** Requests that v4 got. */
  v4Calls(): readonly string[];
  call(client: string, call?: string, options?: object): Promise<TestResponse>;
  /** Counts of a route in `/api/parity`, once there are so many comparisons of it. */
  routeOf(route: string, comparisons: number): Promise<TestResponse["body"]>;
}

/** Two services over one store: another gateway is the old one. */
async function start(
  rollout: string,
  settings: TestSettings = {},
  sandbox: SandboxOptions = {},
  oldSettings: TestSettings = {},
): Promise<TwoServices> {
  const old = await startListeningGateway(oldSettings, sandbox);
  const inFront = await startOldService({ inFrontOf: old.url });
  const calls: string[] = [];
  inFront.onRequestHead(({ method, path }) => calls.push(`${method} ${path}`));
  const rolloutFile = writeOperatorFile(rollout, "rollout.yaml");
  const all = {
    UPSTREAM_URL: old.sandbox.url,
    LEGACY_URL: inFront.url,
    CLIENTS_FILE: writeOperatorFile(CLIENTS, "clients.yaml"),
    ROLLOUT_FILE: rolloutFile,
    ...settings,
  };
  const { tokens } = old.sandbox;
  return {
    rolloutFile,
    calls,
    v4Calls: () => old.sandbox.requests.map(({ method, path }) => `${method} ${path}`),
    old: { url: old.url, service: inFront },
    settings: all,
    tokens,
    ...(await startBeside(all, tokens)),
  };
}

/** Counts of a route in `/api/parity`, once there are so many comparisons of it. */
const routeOf = (gateway: TestGateway, route: string, comparisons: number): Promise<TestResponse["body"]> =>
  waitFor(async () => {
    const { body } = await gateway.requestAdmin("GET /api/parity?source=legacy");
    const found = body.sources
      .flatMap(({ routes }: TestResponse["body"]) => routes)
      .find((each: TestResponse["body"]) => each.route === route);
    return found && found.comparisons >= comparisons ? found : undefined;
  });

/** A gateway in front of services that run. */
async function startBeside(
  settings: TestSettings,
  tokens: Readonly<Record<string, string>>,
): Promise<Pick<TwoServices, "gateway" | "call" | "routeOf">> {
  const gateway = await openGateway(settings, tokens);
  return {
    gateway,
    routeOf: (route, comparisons) => routeOf(gateway, route, comparisons),
    call: (client, call = LIST, options = {}) =>
      gateway.request(call, { headers: { "user-agent": `${client}/1` }, ...options }),
  };
}

const COMPARE_ALL = "compare: { share: 100%, per_second: 500, client_share: 100% }";

test("equal answers of both services are equal, whichever of them a client gets", async () => {
  const { call, routeOf, calls } = await start(
    `data: shared\n${COMPARE_ALL}\nwaves: { first: [billing] }\nnew: [{ waves: [first] }]`,
  );
  for (const client of ["billing", "reports"]) {
    expect((await call(client)).status).toBe(200);
    expect((await call(client, `${LIST}?page=2`)).status).toBe(200);
    expect((await call(client, `${LIST}/999999`)).status).toBeGreaterThanOrEqual(400);
  }
  expect(await routeOf(LIST, 4)).toMatchObject({
    comparisons: 4,
    distinct: 2,
    clients: 1,
    equal: 4,
    different: 0,
    unstable: 0,
  });
  expect(await routeOf(`${LIST}/:id`, 2)).toMatchObject({ equal: 2, distinct: 0 });
  expect(calls.every((each) => each.startsWith("GET "))).toBe(true);
});

test("the client gets the answer of its side, with nothing of the other one", async () => {
  const { call, gateway } = await start(`data: shared\n${COMPARE_ALL}`, RECORDING);
  const { headers } = await call("billing");
  expect(headers).not.toHaveProperty("x-comparison");
  const [record] = await gateway.readAudit();
  expect(record).toMatchObject({ lane: "legacy", alpha: { route: LIST } });
  expect(await gateway.readAudit()).toHaveLength(1);
});

test("a write reaches one service, once, and is never compared", async () => {
  const { call, calls, gateway } = await start(`data: shared\n${COMPARE_ALL}\nnew: [{ clients: [billing] }]`);
  await call("reports", "POST /vm/instances", { body: {} });
  await call("reports", "DELETE /vm/instances/1");
  await call("billing", "POST /vm/instances", { body: {} });
  await call("billing", "PUT /vm/instances/1", { body: {} });
  await call("reports");
  await waitFor(async () => {
    const { body } = await gateway.requestAdmin("GET /api/parity?source=legacy");
    return body.sources.length > 0;
  });
  expect(calls.filter((each) => !each.startsWith("GET "))).toEqual([
    "POST /v4/vm/instances",
    "DELETE /v4/vm/instances/1",
  ]);
});

test("a GET that the pack translates to another method is a write, which no service gets for a comparison", async () => {
  const { folder, write } = copyPack();
  const instance = readFileSync(join(folder, "instance.yaml"), "utf8");
  const route =
    '  - { client: "GET /vm/instances/:id/again", scope: "vms:modify", upstream: "POST /vm/instances/{id}/reboot", response: none }';
  write("instance.yaml", instance.replace(/^routes:$/m, `routes:\n${route}`));
  const { call, calls, v4Calls, routeOf } = await start(
    `data: { replicated: 60s }\n${COMPARE_ALL}\nnew: [{ clients: [billing] }]`,
    { MAPPINGS_DIR: folder },
  );
  await call("reports", `${LIST}/5201/again`);
  await call("billing", `${LIST}/5201/again`);
  expect(v4Calls().filter((each) => each.includes("reboot"))).toEqual(["POST /v4/vm/instances/5201/reboot"]);
  expect(calls.filter((each) => each.includes("again"))).toEqual(["GET /v4/vm/instances/5201/again"]);
  await call("billing");
  expect(await routeOf(LIST, 1)).toMatchObject({ notComparable: { write: 1 } });
});

test("a read that a service may take for a write, by an overridden method, is never sent a second time", async () => {
  const { call, calls, routeOf } = await start(`data: shared\n${COMPARE_ALL}\nnew: [{ clients: [billing] }]`);
  const names = [
    "x-http-method-override",
    "x-method-override",
    "x-http-method",
    "x-method",
    "x-http-verb",
    "x-http-override",
    "x_http_method_override",
    "X_Method-Override",
  ];
  for (const name of names)
    await call("billing", `${LIST}/1`, { headers: { "user-agent": "billing/1", [name]: "DELETE" } });
  await call("billing", `${LIST}/1?_method=DELETE`);
  await call("billing", `${LIST}/1?a=1;_method=DELETE`);
  await call("billing");
  await routeOf(LIST, 1);
  expect(calls.filter((each) => each.includes("/1"))).toEqual([]);
});

test("a related object that changes through the old service is not a difference, regardless of the pack's caching", async () => {
  const { folder, write } = copyPack();
  const event = readFileSync(join(folder, "event.yaml"), "utf8");
  write(
    "event.yaml",
    event.replace(/^( +username:) +username$/m, "$1 { upstream: username, read: $calls.me.email }"),
  );
  const pack = { MAPPINGS_DIR: folder };
  const { call, routeOf } = await start(`data: shared\n${COMPARE_ALL}`, pack, {}, pack);
  const EVENTS = "GET /account/events";
  const emails = async (): Promise<unknown> =>
    (await call("billing", EVENTS)).body.events.map(({ username }: { username: unknown }) => username);
  await emails();
  await routeOf(EVENTS, 1);
  expect((await call("billing", "PUT /account/profile", { body: { email: "new@example.net" } })).status).toBe(
    200,
  );
  expect(await emails()).toContain("new@example.net");
  expect(await routeOf(EVENTS, 2)).toMatchObject({ comparisons: 2, equal: 2 });
});

test("the old service sees the host that the client used, also in comparisons", async () => {
  const { call, old } = await start(`data: shared\n${COMPARE_ALL}\nnew: [{ clients: [billing] }]`);
  const hosts = async (client: string): Promise<unknown> => {
    const before = old.service.calls.length;
    await call(client, LIST, {
      headers: { "user-agent": `${client}/1`, host: "127.0.0.1", "x-forwarded-host": "evil.example" },
    });
    const seen = await waitFor(() => old.service.calls[before]);
    return seen?.headers["x-forwarded-host"];
  };
  expect([await hosts("billing"), await hosts("reports")]).toEqual(["127.0.0.1", "127.0.0.1"]);
});

test("a read with a body is not compared: without its body it would be another request", async () => {
  const { call, calls } = await start(`data: shared\n${COMPARE_ALL}\nnew: [{ clients: [billing] }]`);
  await call("billing", LIST, { headers: { "user-agent": "billing/1", "content-length": "2" }, body: "{}" });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(calls).toEqual([]);
});

test("requests that the file excludes from comparison are not repeated", async () => {
  const { call, calls } = await start(
    `data: shared\ncompare: { share: 100%, skip: [${LIST}] }\nnew: [{ clients: [billing] }]`,
  );
  await call("billing");
  const none = await start("data: shared\ncompare: { share: 0% }\nnew: [{ clients: [billing] }]");
  await none.call("billing");
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([...calls, ...none.calls]).toEqual([]);
});

/** The pack, with another default for two fields of an instance. */
function mistakenPack(): string {
  const { folder, says } = copyPack();
  says("wrong");
  return folder;
}

describe("a mistake of the pack", () => {
  test("is found in the field that has it, with examples and without tokens, and its route returns to the old service", async () => {
    const { call, routeOf, gateway } = await start(`data: shared\n${COMPARE_ALL}\nnew: all`, {
      ...RECORDING,
      MAPPINGS_DIR: mistakenPack(),
    });
    const isOld = async (): Promise<boolean> => {
      await call("billing", `${LIST}?page=1`);
      const [record] = await gateway.readAudit();
      return record.lane === "legacy";
    };
    expect(await isOld()).toBe(false);
    // A difference is believed once the route was compared a few times. A busy process leaves comparisons out.
    const found = await waitFor(async () => {
      await Promise.all(
        Array.from({ length: 10 }, (_, index) => call("billing", `${LIST}?page=1&n=${index}`)),
      );
      const route = await routeOf(LIST, 1);
      return route.different > 0 && route;
    });
    expect(found.fields.map(({ field }: TestResponse["body"]) => field)).toContain("vms.ipv6");
    const [id] = found.fields.find(({ field }: TestResponse["body"]) => field === "vms.ipv6").examples;
    const { body: example } = await gateway.requestAdmin(`GET /api/parity/${id}`);
    expect(JSON.stringify(example)).toContain("wrong");
    expect(JSON.stringify(example)).not.toMatch(/token [0-9a-f]{16}/);
    await waitFor(isOld);
    const { body } = await gateway.requestAdmin("GET /api/rollout");
    expect(body.rollout.trips).toMatchObject([{ kind: "route", name: LIST, by: "gateway" }]);
  });
});

test("requests that ask for the candidate are not compared with the old service, and leave what was found of the active pack", async () => {
  const candidate = mistakenPack();
  const { call, routeOf, gateway } = await start(`data: shared\n${COMPARE_ALL}\nnew: all`, {
    CANDIDATE_MAPPINGS_DIR: candidate,
    CLIENT_HEADER: "x-client",
    TRUST_PROXY: "127.0.0.1",
    CLIENTS_FILE: writeOperatorFile(`${CLIENTS}ann: { tester: true }\n`, "clients.yaml"),
  });
  await gateway.reload();
  await call("billing");
  await routeOf(LIST, 1);
  const headers = { "x-client": "ann", "x-pack": packHash(readPack(candidate), { WORDS: {} }) };
  expect((await call("billing", LIST, { headers })).text).toContain("wrong");
  await call("billing");
  expect(await routeOf(LIST, 2)).toMatchObject({ comparisons: 2, equal: 2 });
});

test("a restarted gateway has the knowledge about the old service, and confirms the first difference", async () => {
  const DATA_DIR = temporaryFolder();
  const { call, routeOf, gateway, settings, tokens } = await start(`data: shared\n${COMPARE_ALL}`, {
    DATA_DIR,
  });
  await Promise.all(Array.from({ length: 40 }, (_, index) => call("billing", `${LIST}?page=1&n=${index}`)));
  expect(await routeOf(LIST, 30)).toMatchObject({ different: 0 });
  await gateway.stop();
  const restarted = await startBeside({ ...settings, MAPPINGS_DIR: mistakenPack() }, tokens);
  await restarted.call("billing", `${LIST}?page=1`);
  const found = await waitFor(async () => {
    const counts = await restarted.routeOf(LIST, 1);
    return counts.different + counts.unstable > 0 && counts;
  });
  expect(found).toMatchObject({ different: 1, unstable: 0 });
});

test("a client that was turned a moment ago is compared with all of its reads", async () => {
  const { call, calls, gateway, rolloutFile } = await start("data: shared\ncompare: { share: 0.01% }");
  await call("billing");
  expect(calls).toHaveLength(1);
  writeFileSync(rolloutFile, "data: shared\ncompare: { share: 0.01% }\nnew: [{ clients: [billing] }]");
  await gateway.reload();
  for (let page = 1; page <= 5; page += 1) await call("billing", `${LIST}?page=${page}`);
  // Under load a read may be compared twice.
  await waitFor(() => new Set(calls.slice(1)).size >= 5);
  expect(new Set(calls.slice(1))).toEqual(
    new Set([1, 2, 3, 4, 5].map((page) => `GET /v4/vm/instances?page=${page}`)),
  );
});

describe("nobody waits for a comparison", () => {
  const HANGING = `data: shared\ncompare: { share: 100%, per_second: 500, client_share: 100%, memory: 1mb }\nnew: all`;

  test("a client that goes away frees what its comparison holds, and is counted", async () => {
    const { old, gateway, settings, tokens } = await start(`data: shared\n${COMPARE_ALL}`);
    await gateway.stop();
    const listening = await openListeningGateway(settings, tokens);
    const proxy = proxyTo(old.url);
    old.service.respondWith(neverRespond);
    const headers = { authorization: `token ${tokens["full"]}`, "user-agent": "billing/1" };
    const ends = Array.from({ length: 8 }, () => new AbortController());
    const sent = ends.map(({ signal }) => fetch(`${listening.url}/v4/vm/instances`, { headers, signal }));
    await waitFor(() => old.service.calls.length >= 8);
    for (const end of ends) end.abort();
    await Promise.allSettled(sent);
    old.service.respondWith(proxy);
    expect((await listening.request(LIST, { headers })).status).toBe(200);
    const found = await routeOf(listening, LIST, 9);
    expect(found).toMatchObject({ comparisons: 9, equal: 1, notComparable: { client_gone: 8 } });
  });

  test.each([
    ["calls", "per_second: 2, memory: 32mb"],
    ["memory", "per_second: 500, memory: 1mb"],
  ])("what finds no room is left out and counted, and its client is served: %s", async (_what, limits) => {
    const { call, old, gateway, ...service } = await start(
      `data: shared\ncompare: { share: 100%, client_share: 100%, ${limits} }\nnew: all`,
      { UPSTREAM_TIMEOUT_MS: "30000" },
      { instances: 60 },
    );
    old.service.respondWith(neverRespond);
    const statuses = new Set<number>();
    for (let batch = 0; batch < 20; batch += 1) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => call("billing")));
      for (const { status } of answers) statuses.add(status);
    }
    expect(statuses).toEqual(new Set([200]));
    const { notComparable } = await service.routeOf(LIST, 20);
    expect(notComparable).toEqual({ budget: expect.any(Number) });
    expect((await gateway.requestAdmin("GET /metrics")).text).toMatch(
      /comparisons_total\{[^}]*reason="budget"[^}]*\} \d{2}/,
    );
  });

  test("calls of one client that hang leave connections for those of others", async () => {
    const { call, old, ...service } = await start(`data: shared\n${COMPARE_ALL}\nnew: all`);
    const proxy = proxyTo(old.url);
    old.service.respondWith((received, response) =>
      (received.path.includes("hang") ? neverRespond : proxy)(received, response),
    );
    for (let index = 0; index < 12; index += 1) await call("billing", `${LIST}/1?hang=${index}`);
    await call("reports");
    expect(await service.routeOf(LIST, 1)).toMatchObject({ equal: 1 });
    const hanging = old.service.calls.find(({ path }) => path.includes("hang"));
    expect(await Promise.race([hanging?.ended, Promise.resolve("still open")])).toBe("still open");
  });

  test("a comparison gives the old service ten seconds, however long a call of v4 may take", async () => {
    const setTimer = setTimeout;
    const spy = jest
      .spyOn(globalThis, "setTimeout")
      .mockImplementation(((end: () => void, ms: number) =>
        setTimer(end, ms === 10_000 ? 200 : ms)) as typeof setTimeout);
    const { call, old } = await start(HANGING, { UPSTREAM_TIMEOUT_MS: "120000" });
    old.service.respondWith(neverRespond);
    await call("billing");
    const hanging = await waitFor(() => old.service.calls[0]);
    expect(await hanging?.ended).toBe("broken off");
    expect(spy.mock.calls.filter(([, ms]) => ms === 10_000)).not.toEqual([]);
    spy.mockRestore();
  });

  test("a gateway that stops ends comparisons that hang", async () => {
    const { call, old, gateway } = await start(HANGING, { UPSTREAM_TIMEOUT_MS: "120000" });
    old.service.respondWith(neverRespond);
    await call("billing");
    const hanging = await waitFor(() => old.service.calls[0]);
    await gateway.stop();
    expect(await hanging?.ended).toBe("broken off");
  });
});
