/** Faults of the connection to Redis, under load: no request fails for it, and the gateway comes back by itself. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { application, type Application } from "../../integration/oauth/application.ts";
import { pass, startFaultProxy, type FaultProxy } from "../../support/fault-proxy.ts";
import { startGateway, type Gateway } from "../../support/gateway.ts";
import { redisServer, type RedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { becomes } from "./admin.ts";
import { underLoad } from "./load.ts";
import { STORE_FAULTS } from "./store-faults.ts";

const describe = await describeWith("redis-server");

const AWAY = [
  "the state store does not answer",
  "Redis does not answer: each process holds its share of the limits",
];

describe("Redis", () => {
  let redis: RedisServer;
  let proxy: FaultProxy;
  let gateway: Gateway;
  let admin: string;
  let app: Application;
  let exchanged: string;

  beforeAll(async () => {
    redis = await redisServer();
    await redis.start();
    proxy = await startFaultProxy(redis.url);
    gateway = await startGateway({
      REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
      GATEWAY_SECRET: "s".repeat(32),
    });
    admin = String(gateway.service.adminUrl);
    const client = { name: "app", redirect_uri: "https://app.example.net/callback" };
    const { body } = await gateway.ask("POST /account/clients", { body: client });
    app = application(gateway.service.url, { id: body.id, secret: body.secret });
    exchanged = (await app.token("vms:view")).token;
  });
  afterAll(async () => {
    await gateway.stop();
    await proxy.close();
    await redis.stop();
  });

  /** As a client whose token v4 gave out, and as one whose token came from an exchange. */
  const read = async (): Promise<number> => {
    const told = await Promise.all(
      [undefined, exchanged].map((as) => gateway.ask("GET /vm/instances", as ? { as } : {})),
    );
    return Math.max(...told.map(({ status }) => status));
  };

  test.each(STORE_FAULTS)(
    "$name: $redis.request for a request, $redis.signIn for a sign-in",
    async ({ fault, redis: expected }) => {
      const connections = proxy.open();
      const load = underLoad(read);
      await load.more(20);
      await proxy.becomes(fault);
      expect(await becomes(admin, expected.ready)).toEqual(expected.ready === 200 ? [] : AWAY);
      await load.more(50);
      const begun = await fetch(app.authorizeUrl({ client_id: "x".repeat(20), scopes: "vms:view" }), {
        redirect: "manual",
      });
      expect(begun.status).toBe(expected.signIn);
      await becomes(admin, expected.ready);

      await proxy.becomes(pass);
      await becomes(admin, 200);
      await load.more(50);
      expect([...(await load.end())]).toEqual([expected.request]);
      expect(proxy.open()).toBe(connections);
    },
  );
});
