/** Redis loses its data: issued tokens are rejected, and never permit more than before. */
import { beforeEach, expect, test } from "@jest/globals";
import { createApplication, REGISTERED, type Application } from "../../gateway/oauth/application.ts";
import { startListeningGateway, type ListeningGateway } from "../../support/gateway.ts";
import { createRedisServer, type RedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { waitForReadiness } from "./admin-client.ts";

const describe = await describeWith("redis-server");
const GATEWAY_SECRET = "s".repeat(32);
const REMOVE = "DELETE /v4/vm/instances/5201";

describe("a Redis that comes back empty", () => {
  let redis: RedisServer;
  let gateway: ListeningGateway;
  let replica: ListeningGateway;
  let app: Application;

  beforeEach(async () => {
    redis = await createRedisServer();
    await redis.start();
    gateway = await startListeningGateway({ AUDIT: "full", REDIS_URL: redis.url, GATEWAY_SECRET });
    // It never sees a token before Redis is empty: it has no copy of any record.
    replica = await startListeningGateway({
      AUDIT: "full",
      REDIS_URL: redis.url,
      GATEWAY_SECRET,
      UPSTREAM_URL: gateway.sandbox.url,
      AUTH_URL: gateway.sandbox.authUrl,
    });
    const { body } = await gateway.requestV4("POST /account/oauth-clients", {
      body: { label: "app", redirect_uri: REGISTERED },
    });
    app = createApplication(gateway.url, { id: body.id, secret: body.secret });
  });

  async function emptied(): Promise<void> {
    await redis.stop();
    await redis.start();
    for (const { adminUrl } of [gateway, replica]) await waitForReadiness(adminUrl, 200);
  }

  const statuses = (as: string): Promise<number[]> =>
    Promise.all(
      [gateway, replica].flatMap((at) => [
        at.request(REMOVE, { as }).then(({ status }) => status),
        at
          .request(REMOVE, { as: null, headers: { authorization: `Bearer ${as}` } })
          .then(({ status }) => status),
      ]),
    );

  test("rejects a DELETE by tokens of level modify with 401, in alpha and as Bearer, without a v4 request", async () => {
    const { token } = await app.token("vms:modify");
    const { body } = await gateway.request("POST /account/tokens", { body: { scopes: "vms:modify" } });
    for (const as of [token, body.token]) expect(await statuses(as)).toEqual([403, 403, 403, 403]);
    const fresh = await app.token("vms:modify");
    await emptied();
    // Copies are used for seconds on.
    await new Promise((resolve) => setTimeout(resolve, 3200));
    gateway.takeV4Requests();
    for (const as of [token, body.token, fresh.token])
      expect(await statuses(as)).toEqual([401, 401, 401, 401]);
    expect(gateway.takeV4Requests()).toEqual([]);
  });

  test("permits no more while it is down", async () => {
    const { token } = await app.token("vms:modify");
    await redis.stop();
    gateway.takeV4Requests();
    for (const status of await statuses(token)) expect([403, 500, 503]).toContain(status);
    expect(gateway.takeV4Requests()).toEqual([]);
    await redis.start();
  });

  test("gives a sign-in in progress no more than it requested", async () => {
    const back = await app.signIn("vms:modify");
    await emptied();
    const { body } = await app.exchange(back.searchParams.get("code") ?? "");
    expect(body.scopes).toBe("vms:modify,events:view");
  });
});
