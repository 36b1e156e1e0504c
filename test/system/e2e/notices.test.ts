/** Notices of whole processes: replicas that share a Redis, and a shutdown while a receiver hangs. */
import { beforeEach, expect, test } from "@jest/globals";
import type { KeyValueStore } from "../../../src/base/storage/key-value-store.ts";
import { connectRedis } from "../../../src/gateway/state/redis-client.ts";
import { createRedisStore } from "../../../src/gateway/state/redis-store.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";
import {
  startWebhookReceiver,
  WEBHOOK_SECRET,
  type WebhookReceiver,
} from "../../support/notice-receivers.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { createRedisServer, sharedBy, type RedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { waitFor } from "../../support/wait-for.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve, type Serving } from "./program.ts";

/** A stage that always applies, until somebody pauses it. */
const PLAN = `announced: 2026-01-01
stages: [{ name: first, brown_out: "* * * * *", for: 1h, from: 2026-01-01 }]
`;

let webhook: WebhookReceiver;
let folder: string;
beforeEach(async () => {
  webhook = await startWebhookReceiver();
  folder = temporaryFolder();
});

const start = (env: Readonly<Record<string, string>> = {}): Promise<Serving> =>
  serve(folder, {
    env: {
      SUNSET_FILE: writeOperatorFile(PLAN),
      NOTICES_FILE: writeOperatorFile(
        `receivers: { hook: { webhook: "${webhook.url}", secret: { env: HOOK_SECRET } } }`,
        "notices.yaml",
      ),
      HOOK_SECRET: WEBHOOK_SECRET,
      LOG_LEVEL: "silent",
      ...env,
    },
  });

const act = (gateway: Serving, action: string): Promise<Response> =>
  fetch(`${gateway.admin}/api/sunset/${action}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ by: "Ann" }),
  });

/** Waits until a look has seen that the stage applies: what the first one sees is no news. */
const untilSeen = (store: KeyValueStore): Promise<unknown> =>
  waitFor(async () => (await store.get("notices:state"))?.includes('"stages":[{"stage":"first"'));

const events = (): string[] => webhook.received.map(({ body }) => body.type);

test("SIGTERM while a receiver hangs ends the process, and the next one sends what was kept", async () => {
  const gateway = await start();
  const store = openSqliteKeyValueStore({ directory: folder });
  await untilSeen(store);
  const ids: unknown[] = [];
  webhook.respondWith(({ headers }) => void ids.push(headers["webhook-id"]));
  await act(gateway, "pause");
  await waitFor(() => ids.length === 1);
  gateway.signal("SIGTERM");
  expect((await gateway.ended).code).toBe(0);
  webhook.respondWith(undefined);
  await start();
  await waitFor(() => webhook.received.length > 0);
  await store.close();
  expect(events()).toEqual(["stage.ends"]);
  expect(webhook.received.map(({ id }) => id)).toEqual(ids);
});

const describeReplicas = await describeWith("redis-server");

describeReplicas("two replicas", () => {
  let redis: RedisServer;
  beforeEach(async () => {
    redis = await createRedisServer();
    await redis.start();
  });

  test("send each notice once, and go on when the one that sends shuts down", async () => {
    const env = sharedBy(redis);
    const client = await connectRedis({ url: redis.url, onChange: () => {} });
    const first = await start(env);
    await untilSeen(createRedisStore(client));
    const second = await start({ ...env, DATA_DIR: temporaryFolder() });
    await act(second, "pause");
    await waitFor(() => webhook.received.length === 1);
    await act(second, "resume");
    await waitFor(() => webhook.received.length === 2);
    first.signal("SIGTERM");
    await first.ended;
    await act(second, "pause");
    await waitFor(() => webhook.received.length === 3);
    await client.close();
    expect(events()).toEqual(["stage.ends", "stage.begins", "stage.ends"]);
  }, 120_000);
});
