/** Notices as receivers get them: a webhook that checks signatures. The state store is SQLite. */
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { KeyValueStore } from "../../../src/base/storage/key-value-store.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { createAuthority, readCertificate } from "../../support/certificates.ts";
import {
  startWebhookReceiver,
  WEBHOOK_SECRET,
  type WebhookReceiver,
} from "../../support/notice-receivers.ts";
import {
  createWorld,
  LATER,
  observe,
  plan,
  stage,
  startNotices,
  type TestNotices,
  type World,
} from "../../support/notices.ts";
import { waitFor } from "../../support/wait-for.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let folder: string;
let store: KeyValueStore;
let webhook: WebhookReceiver;
let started: TestNotices[];
let servers: Server[];

beforeEach(async () => {
  folder = temporaryFolder();
  store = openSqliteKeyValueStore({ directory: folder });
  webhook = await startWebhookReceiver();
  started = [];
  servers = [];
  jest.replaceProperty(process, "env", { ...process.env, NOTICES_SECRET: WEBHOOK_SECRET });
});
afterEach(async () => {
  await Promise.all(started.map((notices) => notices.close()));
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  await store.close();
  jest.restoreAllMocks();
});

const webhookFile = (url = webhook.url, more = ""): string =>
  `receivers: { hook: { webhook: "${url}", secret: { env: NOTICES_SECRET }${more} } }\n`;

/** Starts notices, and looks for the first time. */
async function start(world: World): Promise<TestNotices> {
  const notices = startNotices(world, store);
  started.push(notices);
  await notices.tick();
  return notices;
}

/** Starts notices, and looks for a second time, when there is a new client. */
async function startWithNews(file = webhookFile()): Promise<{ world: World; notices: TestNotices }> {
  const world = createWorld(file);
  const notices = await start(world);
  world.clients = [observe("0000000000000002", "not begun")];
  await notices.tickAfter(LATER);
  return { world, notices };
}

/** Waits until nothing waits to be sent. Retries need a tick. */
const untilSent = (notices: TestNotices): Promise<unknown> =>
  waitFor(async () => {
    await notices.tickAfter(1000);
    return notices.stats().waiting === 0;
  });

const typesOf = (): string[] => webhook.received.map(({ body }) => body.type);

describe("a webhook", () => {
  test("gets a new client as JSON, signed as Standard Webhooks describes", async () => {
    const world = createWorld(webhookFile(), { clients: [observe("0000000000000001", "moving")] });
    const notices = await start(world);
    world.clients = [...world.clients, observe("0000000000000002", "not begun")];
    await notices.tickAfter(LATER);
    await untilSent(notices);
    const [received] = webhook.received;
    expect(received?.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "alpha-gateway",
    });
    expect(received?.id).toMatch(/^msg_[0-9a-f-]{36}$/);
    expect(webhook.received.map(({ body }) => body)).toEqual([
      {
        type: "client.new",
        timestamp: "2026-06-01T09:05:01.000Z",
        data: {
          client: "0000000000000002",
          isNamed: false,
          userAgent: "sync/1.0",
          state: "not begun",
          lastAlpha: "2026-06-01T08:00:00.000Z",
          lastNative: null,
        },
      },
    ]);
    expect(notices.results).toEqual(["client.new sent"]);
  });

  test("gets only the events that it asks for", async () => {
    const world = createWorld(webhookFile(webhook.url, ", events: [stage.begins]"), { plan: plan([]) });
    const notices = await start(world);
    world.clients = [observe("0000000000000002", "not begun")];
    world.plan = plan([stage("first", "active")]);
    await notices.tickAfter(LATER);
    await untilSent(notices);
    expect(typesOf()).toEqual(["stage.begins"]);
  });

  test("gets each notice once, also after a restart", async () => {
    const { world, notices } = await startWithNews();
    await untilSent(notices);
    await notices.tickAfter(LATER);
    await notices.close();
    const restarted = await start(world);
    await restarted.tickAfter(LATER);
    await untilSent(restarted);
    expect(typesOf()).toEqual(["client.new"]);
  });

  test("gets nothing twice where another process has sent it, and the store has lost everything since", async () => {
    const world = createWorld(webhookFile());
    const one = await start(world);
    await store.delete("notices:lease");
    const other = await start(world);
    await one.tickAfter(LATER);
    world.clients = [observe("0000000000000002", "not begun")];
    await other.tickAfter(LATER);
    await untilSent(other);
    await store.deleteAll(["notices:lease", "notices:state"]);
    await one.tickAfter(LATER);
    await untilSent(one);
    expect(typesOf()).toEqual(["client.new"]);
  });

  test.each(["{", '{"version":1}', "7"])(
    "gets what is new from now on if what is stored is %s, and nothing twice",
    async (damaged) => {
      const world = createWorld(webhookFile());
      world.clients = [observe("0000000000000001", "moving")];
      await store.set("notices:state", damaged, 60);
      const notices = await start(world);
      world.clients = [...world.clients, observe("0000000000000002", "not begun")];
      await notices.tickAfter(LATER);
      await untilSent(notices);
      expect(typesOf()).toEqual(["client.new"]);
    },
  );

  test("gets a notice later, with the same id, while it fails; the log has one line", async () => {
    const ids: unknown[] = [];
    webhook.respondWith(({ headers }, response) => {
      ids.push(headers["webhook-id"]);
      response.writeHead(503).end();
    });
    const { notices } = await startWithNews();
    await waitFor(async () => {
      await notices.tickAfter(60_000);
      return ids.length >= 3;
    });
    expect(notices.stats()).toMatchObject({ waiting: 1, failing: 1 });
    webhook.respondWith(undefined);
    await waitFor(async () => {
      await notices.tickAfter(600_000);
      return notices.stats().waiting === 0;
    });
    expect(notices.stats()).toMatchObject({ waiting: 0, failing: 0 });
    expect(new Set([...ids, ...webhook.received.map(({ id }) => id)]).size).toBe(1);
    expect(notices.log).toEqual([
      expect.stringMatching(
        /"AG_NOTICE_FAILED","receiver":"hook","event":"client.new","reason":"status 503"/,
      ),
    ]);
  });

  test("gets a notice after a restart if it was down before", async () => {
    webhook.respondWith((_request, response) => void response.writeHead(500).end());
    const { world, notices } = await startWithNews();
    await waitFor(() => notices.results.includes("client.new failed"));
    await notices.close();
    webhook.respondWith(undefined);
    await untilSent(await start(world));
    expect(typesOf()).toEqual(["client.new"]);
  });

  test("is not tried for longer than a day: the notice is counted and logged as dropped", async () => {
    webhook.respondWith((_request, response) => void response.writeHead(500).end());
    const { notices } = await startWithNews();
    await waitFor(() => notices.results.includes("client.new failed"));
    await waitFor(async () => {
      await notices.tickAfter(DAY);
      return notices.stats().waiting === 0;
    });
    expect(notices.results).toContain("client.new dropped");
    expect(notices.log.at(-1)).toMatch(/AG_NOTICE_DROPPED.*not sent in a day/);
  });

  test("that redirects gets no notice elsewhere", async () => {
    const other = await startWebhookReceiver();
    webhook.respondWith((_request, response) => void response.writeHead(307, { location: other.url }).end());
    const { notices } = await startWithNews();
    await waitFor(() => notices.results.length > 0);
    expect(notices.results).toEqual(["client.new failed"]);
    expect(other.requests()).toBe(0);
    await other.close();
  });

  test("with an endless response is done once its status is there", async () => {
    let isClosed = false;
    webhook.respondWith((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write("x".repeat(65_536)), 1);
      response.on("close", () => {
        clearInterval(timer);
        isClosed = true;
      });
    });
    const { notices } = await startWithNews();
    await waitFor(() => notices.results.length > 0 && isClosed);
    expect(notices.results).toEqual(["client.new sent"]);
  });

  test("with a certificate of an unknown authority gets nothing", async () => {
    const certificate = readCertificate(createAuthority(folder, "nobody").sign("hook"));
    let requests = 0;
    const server = createTlsServer(certificate, () => (requests += 1));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const world = createWorld(
      webhookFile(`https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`),
    );
    const notices = await start(world);
    world.clients = [observe("0000000000000002", "not begun")];
    await notices.tickAfter(LATER);
    await waitFor(() => notices.results.length > 0);
    expect([notices.results, requests]).toEqual([["client.new failed"], 0]);
    expect(notices.log.join()).toMatch(/"reason":"[A-Z_]*(?:CERT|SIGN|ISSUER|VERIFY)[A-Z_]*"/);
  });

  test("that hangs does not keep others waiting, nor the shutdown; the next process sends the notice", async () => {
    const hanging = await startWebhookReceiver();
    hanging.respondWith(() => {});
    const both = `receivers:
  hanging: { webhook: "${hanging.url}", secret: { env: NOTICES_SECRET } }
  hook: { webhook: "${webhook.url}", secret: { env: NOTICES_SECRET } }
`;
    const { world, notices } = await startWithNews(both);
    await waitFor(() => hanging.requests() === 1 && webhook.received.length === 1);
    await notices.close();
    expect([notices.results, notices.log]).toEqual([["client.new sent"], []]);
    hanging.respondWith(undefined);
    await untilSent(await start(world));
    expect([hanging.received.length, webhook.received.length]).toEqual([1, 1]);
    await hanging.close();
  });

  test("never appears in the log with its address or its secret", async () => {
    const { notices } = await startWithNews(webhookFile("http://127.0.0.1:1/services/S3CRET"));
    await waitFor(() => notices.log.length > 0);
    expect(notices.log.join()).toContain('"reason":"ECONNREFUSED"');
    expect(notices.log.join()).not.toMatch(/S3CRET|whsec_|127\.0\.0\.1/);
  });
});

test("clients that can't be read are read again at the next look, and not before: the log has one line", async () => {
  const world = createWorld(webhookFile(), { fault: new Error("the audit store did not respond in time") });
  const notices = await start(world);
  for (let minute = 0; minute < 4; minute += 1) await notices.tickAfter(60_000);
  expect(world.reads).toBe(1);
  await notices.tickAfter(LATER);
  expect(world.reads).toBe(2);
  expect(notices.log.filter((line) => line.includes("AG_NOTICES_CLIENTS_UNKNOWN"))).toHaveLength(1);
});

describe("10 000 new clients at once", () => {
  test.each([
    ["of one program", 5, () => "sync/1.0"],
    ["of a program each", 20, (n: number) => `sync${n}/1.0`],
  ])(
    "%s are %d notices, and one that says how many more when the hour is over",
    async (_of, most, agentOf) => {
      const world = createWorld(webhookFile());
      const notices = await start(world);
      world.clients = Array.from({ length: 10_000 }, (_, n) =>
        observe(n.toString(16).padStart(16, "0"), "not begun", { userAgent: agentOf(n) }),
      );
      await notices.tickAfter(LATER);
      await untilSent(notices);
      expect(typesOf()).toEqual(Array.from({ length: most }, () => "client.new"));
      await notices.tickAfter(HOUR);
      await untilSent(notices);
      expect(webhook.received.slice(most).map(({ body }) => body.data)).toEqual([
        { event: "client.new", count: 10_000 - most, hour: "2026-06-01T09:00:00.000Z" },
      ]);
    },
  );
});

describe("a receiver that is down while many notices come", () => {
  test("loses the oldest ones above 500, and each is counted as dropped", async () => {
    const world = createWorld(webhookFile("http://127.0.0.1:1/"));
    const notices = await start(world);
    const losses = [{ route: "GET /books", loss: "the author", firstDay: "2026-06-01" }];
    for (let hour = 0; hour < 13; hour += 1) {
      const added = Array.from({ length: 25 }, (_, n) =>
        observe(`${hour}-${n}`, "not begun", { losses, userAgent: `sync${n}/1.0` }),
      );
      world.clients = [...world.clients, ...added];
      await notices.tickAfter(HOUR);
    }
    // Twenty of each of two events in an hour, and from the second hour on two that say how many more.
    expect(notices.stats().waiting).toBe(500);
    expect(notices.results.filter((result) => result.endsWith(" dropped"))).toHaveLength(
      13 * 40 + 12 * 2 - 500,
    );
    expect(notices.log.join()).toMatch(/AG_NOTICE_DROPPED.*too many notices wait/);
  });
});
