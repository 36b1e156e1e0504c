/** One application can't take the room of others in the state store. */
import { createClient } from "@redis/client";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { mkdtemp, rm } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGateway, type Gateway, type TestSettings } from "../../support/gateway.ts";
import { createRedisServer, type RedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { createApplication, REGISTERED, type Application } from "./application.ts";

interface Place {
  readonly settings: TestSettings;
  /** Gives the owner of the only entry of an application as many more, as if users had signed in. */
  fill(entries: number, id?: string): Promise<void>;
  remove(): Promise<void>;
}

/** An application may have 100 000 tokens, and all together 200 000. */
const SHARE = 100_000;

function sharesAreKept(open: () => Promise<Place>): void {
  let place: Place;
  let gateway: Gateway;
  let busy: Application;
  let other: Application;
  beforeAll(async () => {
    place = await open();
    gateway = await startGateway(place.settings);
    [busy, other] = [await register(), await register()];
  });
  afterAll(async () => {
    await place.remove();
  });

  async function register(): Promise<Application> {
    const { body } = await gateway.requestV4("POST /account/oauth-clients", {
      body: { label: "app", redirect_uri: REGISTERED },
    });
    return createApplication(gateway.app, { id: body.id, secret: body.secret });
  }
  const signIn = async (app: Application) =>
    app.exchange((await app.signIn("vms:view")).searchParams.get("code") ?? "");
  const isAccepted = async (as: string): Promise<boolean> =>
    (await gateway.request("GET /vm/instances", { as })).status === 200;
  const usedRatio = async (): Promise<number> => {
    const { text } = await gateway.requestAdmin("GET /metrics");
    return Number(/^alpha_gateway_state_store_used_ratio (.+)$/m.exec(text)?.[1]);
  };

  test("an application that has used up its share gets 420, its code stays good, and the others sign in", async () => {
    const { access_token: token } = (await signIn(busy)).body;
    await place.fill(SHARE - 1);
    const code = (await busy.signIn("vms:view")).searchParams.get("code") ?? "";
    const refused = await busy.exchange(code);
    expect([refused.status, refused.body.errors]).toEqual([
      420,
      [{ reason: "Too many tokens exist already. Delete tokens that are not used." }],
    ]);
    const { status, body } = await signIn(other);
    expect(status).toBe(200);
    expect([await isAccepted(token), await isAccepted(body.access_token)]).toEqual([true, true]);
    expect(await gateway.readiness()).toEqual([]);
    expect(await usedRatio()).toBeCloseTo(0.5, 2);
    // A token that is revoked makes room for the next one.
    expect((await busy.expire(token)).status).toBe(200);
    expect((await busy.exchange(code)).status).toBe(200);
  });

  test("a store without room refuses a sign-in, keeps all tokens, and is not ready", async () => {
    const { body } = await signIn(other);
    await place.fill(SHARE - 2, "application:third");
    expect((await signIn(other)).status).toBe(500);
    expect(await isAccepted(body.access_token)).toBe(true);
    expect(await gateway.readiness()).toEqual(["the state store is full: sign-ins fail"]);
    expect(await usedRatio()).toBe(1);
    // Personal tokens have room of their own.
    const created = await gateway.request("POST /account/tokens", {
      body: { label: "a", scopes: "vms:view" },
    });
    expect(created.status).toBe(200);
  });
}

describe("with SQLite", () => {
  sharesAreKept(async () => {
    const folder = await mkdtemp(join(tmpdir(), "shares-"));
    return {
      settings: { DATA_DIR: folder },
      async fill(entries, id) {
        const database = new DatabaseSync(join(folder, "state.db"));
        const owner =
          id ?? database.prepare("SELECT owner FROM entry WHERE owner IS NOT NULL").get()?.["owner"];
        database
          .prepare(
            `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
             INSERT INTO entry SELECT ? || i, '', ?, ? FROM n`,
          )
          .run(entries, `filled ${String(owner)} `, Date.now() + 3_600_000, owner ?? null);
        database.close();
      },
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  });
});

(await describeWith("redis-server"))("with Redis", () => {
  sharesAreKept(async () => {
    const server: RedisServer = await createRedisServer();
    await server.start();
    const redis = await createClient({ url: server.url }).connect();
    const OWNED = "alpha-gateway:state:owned:";
    return {
      settings: { REDIS_URL: server.url, GATEWAY_SECRET: "s".repeat(32) },
      async fill(entries, id) {
        const [first = ""] = await redis.keys(`${OWNED}application:*`);
        const owner = id ?? first.slice(OWNED.length);
        const keys = [OWNED + owner, `${OWNED}application`];
        const ends = Date.now() + 3_600_000;
        for (const key of keys)
          for (let from = 0; from < entries; from += 10_000) {
            const size = Math.min(10_000, entries - from);
            const members = Array.from({ length: size }, (_, n) => ({
              value: `filled ${owner} ${from + n}`,
              score: ends,
            }));
            await redis.zAdd(key, members);
          }
      },
      async remove() {
        await redis.close();
        await server.stop();
      },
    };
  });
});
