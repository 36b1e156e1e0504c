/** The score of a route as the traffic of one client grows a hundredfold and that of the others stays: clients count, not requests. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { json, startFakeV4, type FakeV4, type ReceivedRequest } from "../../support/fake-v4.ts";
import { openGateway, type TestGateway } from "../../support/gateway.ts";
import { startOldService, type TestOldService } from "../../support/old-service.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { request } from "../../support/request.ts";
import { writeSmallPack } from "../../support/small-pack.ts";
import { waitFor } from "../../support/wait-for.ts";

const ROUTE = "GET /books/:id";
/** The client whose traffic grows. */
const BUSY = "busy";
const OTHERS = ["billing", "reports", "shop", "sums"];
/** Requests of each other client. */
const FEW = 6;
/** Requests of the busy one for each request of another. */
const GROWTH = [1, 100];

const BOOK = {
  fields: { id: "id", title: "name" },
  routes: [{ client: ROUTE, upstream: "GET /items/{id}" }],
};

let old: TestOldService;
let v4: FakeV4;
let pack: ReturnType<typeof writeSmallPack>;
let gateway: TestGateway;
/** Whether a service fails a request of a client, by the number of its requests so far. */
let failsOld: (client: string, count: number) => boolean;
let failsNew: (client: string, count: number) => boolean;

const clientOf = ({ headers }: ReceivedRequest): string => headers["user-agent"]?.split("/")[0] ?? "";

beforeEach(async () => {
  [old, v4] = [await startOldService(), await startFakeV4()];
  [failsOld, failsNew] = [() => false, () => false];
  old.respondWith((received, response) =>
    json(failsOld(clientOf(received), 0) ? 500 : 200, { id: 1, title: "same" })(received, response),
  );
  pack = writeSmallPack({ book: BOOK });
});
afterEach(async () => {
  await old.close();
  await v4.close();
});

/** Starts a gateway, and a v4 that fails as the path of a request says. */
async function start(rollout: string, settings: Readonly<Record<string, string>> = {}): Promise<void> {
  v4.respondWith((received, response) =>
    json(received.path.endsWith("/500") ? 500 : 200, { id: 1, name: "same" })(received, response),
  );
  const clients = [BUSY, ...OTHERS].map((name) => `${name}: { user_agents: [${name}/*] }\n`);
  gateway = await openGateway({
    UPSTREAM_URL: v4.url,
    LEGACY_URL: old.url,
    MAPPINGS_DIR: pack,
    CLIENTS_FILE: writeOperatorFile(clients.join(""), "clients.yaml"),
    ROLLOUT_FILE: writeOperatorFile(rollout, "rollout.yaml"),
    ...settings,
  });
}

const NO_COMPARISON = "compare: { share: 0% }";

/** Sends requests of a client, which v4 fails where `failsNew` says so. */
async function send(client: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1)
    await request(gateway.app, `GET /books/${failsNew(client, index) ? 500 : 1}`, {
      headers: { "user-agent": `${client}/1` },
    });
}

/** Somebody whom the old service answers well: a return needs a service that is well. */
const askOld = (): Promise<void> => send("somebody", 1);

/** Between any two requests of others the busy client sends its own. */
async function sendAll(growth: number, others = OTHERS): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1)
    for (const client of others) {
      await askOld();
      await send(BUSY, growth);
      await send(client, 1);
    }
}

async function returned(): Promise<readonly string[]> {
  const { body } = await gateway.requestAdmin("GET /api/rollout");
  return body.rollout.trips.map(({ reason }: { reason: string }) => reason);
}

const ALL_NEW = `data: shared\n${NO_COMPARISON}\nnew: [{ clients: [${[BUSY, ...OTHERS].join(", ")}] }]`;

describe.each(GROWTH)("one client with %i requests for each one of the others", (growth) => {
  test("turns nothing back by failures that only it has", async () => {
    await start(ALL_NEW);
    failsNew = (client) => client === BUSY;
    await send("billing", 1);
    await sendAll(growth);
    expect(await returned()).toEqual([]);
  }, 60_000);

  test("keeps no route from returning on which it succeeds, and all others fail", async () => {
    await start(ALL_NEW);
    failsNew = (client) => client !== BUSY;
    await sendAll(growth);
    expect(await returned()).toEqual(["failures of the translation"]);
  }, 60_000);

  test("does not raise the rate of failures that is tolerated: half of everybody's requests fail", async () => {
    await start(`data: shared\n${NO_COMPARISON}\nnew: [{ clients: [${OTHERS.join(", ")}] }]`);
    failsOld = (client) => client === BUSY;
    await send(BUSY, 6 * growth);
    for (const client of ["somebody", "anybody"]) await send(client, 25);
    failsNew = (_client, index) => index % 2 === 0;
    for (const client of OTHERS) await send(client, 2 * FEW);
    expect(await returned()).toEqual(["failures of the translation"]);
  }, 60_000);
});

test("the only client that calls a route turns it back", async () => {
  await start(ALL_NEW);
  await askOld();
  failsNew = () => true;
  await send(BUSY, 4);
  expect(await returned()).toEqual(["failures of the translation"]);
});

test("a route only returns if both of two clients that call it see failures", async () => {
  await start(ALL_NEW);
  await askOld();
  await send("billing", 1);
  failsNew = (client) => client === BUSY;
  await sendAll(5, ["billing"]);
  expect(await returned()).toEqual([]);
  failsNew = () => true;
  await send("billing", 4);
  await waitFor(async () => (await returned()).length === 1);
});

/** Starts a gateway whose clients have tokens, and compares all of their requests. */
async function startWithTokens(settings: Readonly<Record<string, string>> = {}): Promise<void> {
  pack = writeSmallPack({
    client: { credentials: { scheme: "token" } },
    upstream: { credentials: { scheme: "Bearer" } },
    book: BOOK,
  });
  await start(
    "data: shared\ncompare: { share: 100%, per_second: 500, client_share: 100% }\nnew: all",
    settings,
  );
}

describe("tokens of one network are one client", () => {
  const TOKENS = 20;
  /** Networks of others, on which the translation works. */
  const HEALTHY = 10;

  beforeEach(async () => {
    await startWithTokens({ TRUST_PROXY: "127.0.0.1" });
    for (let n = 0; n < HEALTHY; n += 1) await call(`healthy ${n}`, `203.0.113.${n}`, 1);
    await waitFor(() => old.calls.length >= HEALTHY);
  });

  const call = (token: string, address: string, id: number): Promise<unknown> =>
    request(gateway.app, `GET /books/${id}`, {
      headers: { authorization: `token ${token.replace(" ", "-")}`, "x-forwarded-for": address },
    });

  /** Requests of a customer's tokens from so many networks, which v4 accepts and then fails. */
  async function fail(networks: number): Promise<void> {
    for (const id of [1, 500, 500, 500, 500])
      for (let n = 0; n < TOKENS; n += 1) await call(`own ${n}`, `198.51.100.${n % networks}`, id);
  }

  test.each([1, 2])(
    "which returns no route for others, nor from %i networks",
    async (networks) => {
      await fail(networks);
      expect(await returned()).toEqual([]);
    },
    60_000,
  );

  test("and failures for several networks return it", async () => {
    await fail(4);
    expect(await returned()).toEqual(["failures of the translation"]);
  }, 60_000);
});

describe("behind one proxy, whose network all clients have, tokens are clients", () => {
  const HEALTHY = 10;

  beforeEach(async () => {
    await startWithTokens();
    for (let n = 0; n < HEALTHY; n += 1) await call(`healthy-${n}`, 1);
    await waitFor(() => old.calls.length >= HEALTHY);
  });

  const call = (token: string, id: number): Promise<unknown> =>
    request(gateway.app, `GET /books/${id}`, { headers: { authorization: `token ${token}` } });

  test.each([1, 2])("and a customer with %i of them returns no route for the others", async (tokens) => {
    for (const id of [1, ...Array.from({ length: 20 }, () => 500)])
      for (let n = 0; n < tokens; n += 1) await call(`own-${n}`, id);
    expect(await returned()).toEqual([]);
  });

  test("and failures of most of them return it", async () => {
    for (let round = 0; round < 3; round += 1)
      for (let n = 0; n < HEALTHY; n += 1) await call(`healthy-${n}`, 500);
    expect(await returned()).toEqual(["failures of the translation"]);
  });
});
