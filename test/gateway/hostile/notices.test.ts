/** One customer with many tokens, whose notices grow a hundredfold: those about other clients are sent as before. */
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { NumberedNames } from "../../../src/audit/record/numbered-names.ts";
import { openSqliteStore } from "../../../src/audit/store/sqlite/store.ts";
import { CLIENTS_FILE } from "../../../src/audit/clients/client-directory.ts";
import { createClientReader } from "../../../src/migration/notices/read-clients.ts";
import { parseOperatorFile } from "../../../src/base/files/operator-file.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";
import { UNLIMITED } from "../../audit/store/store-contract.ts";
import type { ObservedClient } from "../../../src/migration/notices/find-news.ts";
import type { SpanQuery } from "../../../src/audit/usage/usage-reader.ts";
import type { UsageQuery } from "../../../src/audit/usage/usage.ts";
import type { StoredNotices } from "../../../src/migration/notices/stored-notices.ts";
import type { KeyValueStore } from "../../../src/base/storage/key-value-store.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import {
  startWebhookReceiver,
  WEBHOOK_SECRET,
  type WebhookReceiver,
} from "../../support/notice-receivers.ts";
import {
  createWorld,
  LATER,
  observe,
  startNotices,
  type TestNotices,
  type World,
} from "../../support/notices.ts";
import { waitFor } from "../../support/wait-for.ts";

const HOUR = 3_600_000;
const LOSS = { route: "GET /books", loss: "the author", firstDay: "2026-06-01" };

let folder: string;
let store: KeyValueStore;
let webhook: WebhookReceiver;
let notices: TestNotices | undefined;

beforeEach(async () => {
  folder = temporaryFolder();
  store = openSqliteKeyValueStore({ directory: folder });
  webhook = await startWebhookReceiver();
  jest.replaceProperty(process, "env", { ...process.env, NOTICES_SECRET: WEBHOOK_SECRET });
});
afterEach(async () => {
  await notices?.close();
  await store.close();
  jest.restoreAllMocks();
});

const fileOf = (): string =>
  `receivers: { hook: { webhook: "${webhook.url}", secret: { env: NOTICES_SECRET } } }\n`;

async function start(world: World): Promise<TestNotices> {
  notices = startNotices(world, store);
  await notices.tick();
  return notices;
}

const untilSent = (started: TestNotices): Promise<unknown> =>
  waitFor(async () => {
    await started.tickAfter(1000);
    return started.stats().waiting === 0;
  });

/** Tokens of one customer, which calls itself by this many programs. */
const tokensOf = (prefix: string, count: number, programs = 1): ObservedClient[] =>
  Array.from({ length: count }, (_, n) =>
    observe(`${prefix}-${n}`, "not begun", { userAgent: `script${n % programs}/${n}`, losses: [LOSS] }),
  );

const NAMED = observe("named", "not begun", { name: "billing", losses: [LOSS] });
const UNNAMED = observe("unnamed", "not begun", { userAgent: "reports/2.0", losses: [LOSS] });

/** Events of a client that were sent. */
const eventsOf = (client: string): string[] =>
  webhook.received.flatMap(({ body: { type, data } }) => (data["client"] === client ? [type] : []));

describe("new clients of one customer do not hide those of others", () => {
  test.each([50, 5000])("if there are %d in one look before them", async (count) => {
    const world = createWorld(fileOf());
    const started = await start(world);
    world.clients = [...tokensOf("token", count), NAMED, UNNAMED];
    await started.tickAfter(LATER);
    await untilSent(started);
    expect(eventsOf("billing")).toEqual(["client.new", "loss"]);
    expect(eventsOf("unnamed")).toEqual(["client.new", "loss"]);
    // The customer has five of each of two events, whatever it does.
    expect(webhook.received).toHaveLength(4 + 10);
    expect(started.results.filter((result) => result === "client.new limited")).toHaveLength(count - 5);
    expect(started.log.filter((line) => line.includes("AG_NOTICES_LIMITED"))).toHaveLength(2);
  });

  test.each([50, 5000])("that has a name, if there are %d with a program each", async (count) => {
    const world = createWorld(fileOf());
    const started = await start(world);
    world.clients = [...tokensOf("token", count, count), NAMED];
    await started.tickAfter(LATER);
    await untilSent(started);
    expect(eventsOf("billing")).toEqual(["client.new", "loss"]);
    expect(webhook.received).toHaveLength(2 + 40);
  });

  test.each([
    ["without a name", 3, UNNAMED],
    ["with a name", 100, NAMED],
  ])("%s that wait for a receiver that is down, if it has %d programs", async (_kind, programs, other) => {
    const world = createWorld(fileOf());
    const started = await start(world);
    webhook.respondWith((_request, response) => void response.writeHead(503).end());
    world.clients = [other];
    await started.tickAfter(LATER);
    for (let hour = 0; hour < 20; hour += 1) {
      world.clients = [...world.clients, ...tokensOf(`hour${hour}`, 100, programs)];
      await started.tickAfter(HOUR);
    }
    expect(started.stats().waiting).toBe(500);
    const { value } = JSON.parse((await store.get("notices:state")) ?? "{}") as {
      readonly value: Pick<StoredNotices, "waiting">;
    };
    const { client, name } = other.usage;
    const ofOther = value.waiting.filter(
      ({ notice: { data } }) => "client" in data && data.client === (name ?? client),
    );
    expect(ofOther.map(({ notice }) => notice.type)).toEqual(["client.new", "loss"]);
  });
});

describe("tokens of one customer do not use up what is remembered", () => {
  test.each([600, 60_000])("if there are %d at the first look", async (count) => {
    const world = createWorld(fileOf(), { clients: tokensOf("token", count) });
    const started = await start(world);
    world.clients = [...world.clients, NAMED, UNNAMED];
    await started.tickAfter(LATER);
    await untilSent(started);
    expect(eventsOf("billing")).toEqual(["client.new", "loss"]);
    expect(eventsOf("unnamed")).toEqual(["client.new", "loss"]);
    expect(started.stats().ignored > 0).toBe(count > 10_000);
    expect(started.log.join().includes("AG_NOTICES_TOO_MANY")).toBe(count > 10_000);
    expect((await store.get("notices:state"))?.length).toBeLessThan(1_000_000);
  });

  test("if they all have one name, and then another client comes", async () => {
    const keys = Array.from({ length: 60_000 }, (_, n) => `key${n}`);
    const many = observe("key0", "moving", { name: "many" });
    const world = createWorld(fileOf(), { clients: [{ ...many, usage: { ...many.usage, keys } }] });
    const started = await start(world);
    world.clients = [...world.clients, NAMED];
    await started.tickAfter(LATER);
    await untilSent(started);
    expect(eventsOf("billing")).toEqual(["client.new", "loss"]);
    expect(eventsOf("many")).toEqual([]);
    expect((await store.get("notices:state"))?.length).toBeLessThan(1_000_000);
  });
});

test("a look reads as many clients as it remembers, however many there are, and those with a name by their keys", async () => {
  const asked: UsageQuery[] = [];
  let spansOf: readonly string[] | undefined;
  const { usage } = UNNAMED;
  const directory = parseOperatorFile(
    { file: "clients.yaml", text: 'billing: { tokens: ["f000000000000001"] }' },
    CLIENTS_FILE,
  );
  const audit = {
    async clients(query: UsageQuery) {
      asked.push(query);
      return query.clients
        ? [{ ...usage, client: "f000000000000001", fingerprint: "f000000000000001" }]
        : [usage];
    },
    async spans({ clients }: SpanQuery) {
      spansOf = clients;
      return [];
    },
    losses: async () => [],
  };
  const clients = await createClientReader(audit, () => directory, 7)(Date.parse(usage.last));
  expect(clients.map((client) => client.usage.name ?? client.usage.client)).toEqual(["unnamed", "billing"]);
  expect(asked).toEqual([
    { clients: ["label:billing", "f000000000000001"], mostClients: 25_000 },
    { mostClients: 50_000 },
  ]);
  expect(spansOf).toEqual(["unnamed", "f000000000000001"]);
});

test("losses of one customer's tokens do not hide those of a client with a name, or with another program", async () => {
  const names = ["meaning mode: shown as another"];
  const audit = await openSqliteStore({ directory: folder, durability: "strict", ...UNLIMITED });
  const directory = parseOperatorFile(
    { file: "clients.yaml", text: 'billing: { user_agents: ["billing/*"] }' },
    CLIENTS_FILE,
  );
  const put = async (client: string, agent: string, requests: number): Promise<void> => {
    await audit.append({
      ...sampleRecord(`${client} ${agent}`, { client, agent, accepted: true, losses: names }),
      lost: new NumberedNames(names, new Uint8Array([0x80])),
      requests,
    });
  };
  for (let first = 0; first < 20_000; first += 1000)
    await Promise.all(
      Array.from({ length: 1000 }, (_, n) => put(`${first + n}`.padStart(16, "0"), "script/1", 2)),
    );
  await put("f000000000000001", "billing/1", 1);
  await put("f000000000000002", "reports/1", 1);
  const read = createClientReader(audit, () => directory, 7);
  const clients = await read(Date.parse("2026-03-02T00:00:00Z"));
  const lossesOf = (key: string) =>
    clients.flatMap(({ usage, losses }) => (usage.client === key ? losses : [])).length;
  expect(clients).toHaveLength(20_002);
  expect([lossesOf("f000000000000001"), lossesOf("f000000000000002")]).toEqual([1, 1]);
  await audit.close();
});
