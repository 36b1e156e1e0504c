/** Faults of the connection to Redis, under load: no request fails for it, and the gateway comes back automatically. */
import { beforeAll, expect, test } from "@jest/globals";
import { createApplication, type Application } from "../../gateway/oauth/application.ts";
import { forward, startFaultProxy, type FaultProxy } from "../../support/fault-proxy.ts";
import { startListeningGateway, type ListeningGateway } from "../../support/gateway.ts";
import { createRedisServer, type RedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { waitForReadiness } from "./admin-client.ts";
import { startLoad } from "./load.ts";
import { STORE_FAULTS } from "./store-faults.ts";

const describe = await describeWith("redis-server");

const AWAY = [
  "the state store does not respond, or can't be written",
  "Redis does not respond: each process enforces its share of the limits",
];

describe("a Redis that", () => {
  let redis: RedisServer;
  let proxy: FaultProxy;
  let gateway: ListeningGateway;
  let admin: string;
  let app: Application;
  let exchanged: string;

  beforeAll(async () => {
    redis = await createRedisServer();
    await redis.start();
    proxy = await startFaultProxy(redis.url);
    gateway = await startListeningGateway({
      AUDIT: "full",
      REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
      GATEWAY_SECRET: "s".repeat(32),
    });
    admin = gateway.adminUrl;
    const client = { name: "app", redirect_uri: "https://app.example.net/callback" };
    const { body } = await gateway.request("POST /account/clients", { body: client });
    app = createApplication(gateway.url, { id: body.id, secret: body.secret });
    exchanged = (await app.token("vms:view")).token;
  });

  /** As a client whose token v4 gave out, and as one whose token came from an exchange. */
  const read = async (): Promise<number> => {
    const responses = await Promise.all(
      [undefined, exchanged].map((as) => gateway.request("GET /vm/instances", as ? { as } : {})),
    );
    return Math.max(...responses.map(({ status }) => status));
  };

  test.each(STORE_FAULTS)(
    "$name: $redis.request for a request, $redis.signIn for a sign-in",
    async ({ fault, redis: expected }) => {
      const connections = proxy.countOpenConnections();
      const load = startLoad(read);
      await load.waitForMore(20);
      await proxy.setFault(fault);
      expect(await waitForReadiness(admin, expected.ready)).toEqual(expected.ready === 200 ? [] : AWAY);
      await load.waitForMore(50);
      const begun = await fetch(app.authorizeUrl({ client_id: "x".repeat(20), scopes: "vms:view" }), {
        redirect: "manual",
      });
      expect(begun.status).toBe(expected.signIn);
      await waitForReadiness(admin, expected.ready);

      await proxy.setFault(forward);
      await waitForReadiness(admin, 200);
      await load.waitForMore(50);
      expect([...(await load.end())]).toEqual([expected.request]);
      expect(proxy.countOpenConnections()).toBe(connections);
    },
  );
});
