/** The page of a client, with the program as it is installed: one process, and several. */
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { acceptGoodTokens, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { createRedisServer, sharedBy, type RedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { waitFor } from "../../support/wait-for.ts";
import { createFolder, removeFolders } from "./folder.ts";
import { killAll, serve, type Serving } from "./program.ts";

const LONG_MS = 120_000;

let v4: FakeV4;
beforeAll(async () => {
  v4 = await startFakeV4();
  v4.respondWith(acceptGoodTokens);
});
afterEach(async () => {
  await killAll();
  removeFolders();
});
afterAll(() => v4.close());

const read = (gateway: Serving, path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(gateway.url + path, { headers: { connection: "close", ...headers } });
const TOKEN = { authorization: "token good" };

interface Page {
  readonly routes: readonly { readonly route: string; readonly requests: number }[];
}

test(
  "has the routes of the client, as JSON and as HTML, and the description of alpha",
  async () => {
    const gateway = await serve(createFolder(), {
      env: { UPSTREAM_URL: v4.url, MIGRATION_PAGE: "on", AUDIT_DURABILITY: "strict" },
    });
    await read(gateway, "/v4/vm/instances", TOKEN);
    const page = (await (await read(gateway, "/v4/migration", TOKEN)).json()) as Page;
    expect(page.routes).toMatchObject([{ route: "GET /vm/instances", requests: 1 }]);
    const html = await read(gateway, "/v4/migration", { ...TOKEN, accept: "text/html" });
    expect(await html.text()).toContain("GET /v4/vm/instances");
    expect((await read(gateway, "/v4/migration")).status).toBe(401);
    const description = (await (await read(gateway, "/v4/openapi.json")).json()) as object;
    expect(description).toMatchObject({ openapi: "3.1.1" });
  },
  LONG_MS,
);

(await describeWith("redis-server"))("the page of two processes with one audit store", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await createRedisServer();
    await redis.start();
  });
  afterAll(() => redis.stop());

  test(
    "has the calls that either of them got",
    async () => {
      const folder = createFolder();
      const env = { UPSTREAM_URL: v4.url, MIGRATION_PAGE: "on", ...sharedBy(redis) };
      const gateway = await serve(folder, { env });
      const other = await serve(folder, { env });
      for (let n = 0; n < 3; n += 1)
        for (const each of [gateway, other]) await read(each, "/v4/vm/instances", TOKEN);
      const usage = async (): Promise<string> => (await fetch(`${gateway.admin}/api/usage/routes`)).text();
      await waitFor(async () => (await usage()).includes('"requests":6'));
      const page = (await (await read(gateway, "/v4/migration", TOKEN)).json()) as Page;
      expect(page.routes).toMatchObject([{ route: "GET /vm/instances", requests: 6 }]);
    },
    LONG_MS,
  );
});
