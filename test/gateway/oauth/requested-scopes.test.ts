/**
 * an exchange carries only the application's id, and anybody can send its users to sign in. A request of a
 * stranger neither widens nor empties what a sign-in gets, with either place that state is kept in.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { join } from "node:path";
import { createStoreEpoch } from "../../../src/gateway/oauth/store-epoch.ts";
import { RequestedScopes } from "../../../src/gateway/oauth/requested-scopes.ts";
import type { KeyValueStore } from "../../../src/base/storage/key-value-store.ts";
import { connectRedis } from "../../../src/gateway/state/redis-client.ts";
import { createRedisStore } from "../../../src/gateway/state/redis-store.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { packIn } from "../../support/packs.ts";
import { startGateway, type Gateway } from "../../support/gateway.ts";
import { createRedisServer, type RedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { createApplication, REGISTERED, type Application } from "./application.ts";

const { scopes } = packIn("mappings");
const STRANGERS = ["vms:delete", "*", "", "vms:view", "dnszones:delete", "vms:delete,dnszones:delete"];

/** A state store: `settings` of a gateway that uses it, and `open`, which opens it as that gateway does. */
interface Place {
  settings(): Readonly<Record<string, string>>;
  open(): Promise<KeyValueStore>;
  empty(): Promise<void>;
  /** As after an hour. */
  forgetRequests(): Promise<void>;
  /** Stores requests of the application `app`, as other addresses have sent them. */
  fill(texts: readonly string[]): Promise<void>;
}

function strangersCannotReach(place: Place): void {
  describe("R-12 requested scopes through a gateway", () => {
    let gateway: Gateway;
    let app: Application;
    let authorizeAs: (scopes: string) => Promise<number>;
    beforeAll(async () => {
      gateway = await startGateway(place.settings());
    });
    beforeEach(async () => {
      const { body } = await gateway.requestV4("POST /account/oauth-clients", {
        body: { label: "app", redirect_uri: REGISTERED },
      });
      app = createApplication(gateway.app, { id: body.id, secret: body.secret });
      authorizeAs = async (wanted) => {
        const url = app.authorizeUrl({ client_id: body.id, scopes: wanted });
        return (await app.visit(url)).status;
      };
    });

    const codeOf = async (wanted: string, username?: string): Promise<string> => {
      const back = await app.signIn(wanted, { ...(username !== undefined && { username }) });
      return back.searchParams.get("code") ?? "";
    };

    test.each(STRANGERS)("are not changed by a stranger's %j during a sign-in", async (wanted) => {
      const code = await codeOf("vms:modify");
      expect(await authorizeAs(wanted)).toBe(302);
      const { body } = await app.exchange(code);
      expect(body.scopes).toBe("vms:modify");
      const as = body.access_token;
      expect((await gateway.request("PUT /vm/instances/5201", { as, body: { group: "g" } })).status).toBe(
        200,
      );
      expect((await gateway.request("DELETE /vm/instances/5201", { as })).status).toBe(403);
    });

    test.each(STRANGERS)("are not changed by an earlier stranger's %j", async (wanted) => {
      await authorizeAs(wanted);
      expect((await app.token("vms:modify")).scopes).toBe("vms:modify");
    });

    test("are not changed by many unknown senders while users sign in", async () => {
      const signIns = Array.from(
        { length: 6 },
        async () => (await app.token("vms:modify,dnszones:view")).scopes,
      );
      const strangers = STRANGERS.map((wanted) => authorizeAs(wanted));
      await Promise.all(strangers);
      expect(new Set(await Promise.all(signIns))).toEqual(new Set(["vms:modify,dnszones:view"]));
    });

    test("are separate for two users who sign in at the same time", async () => {
      const one = await codeOf("vms:modify");
      const other = await codeOf("dnszones:view,ips:view");
      expect((await app.exchange(one)).body.scopes).toBe("vms:modify");
      expect((await app.exchange(other)).body.scopes).toBe("dnszones:view,ips:view");
    });

    test("are not widened by an unknown sender if a user grants less", async () => {
      const how = { scopes: ["vms:read_only", "domains:read_write", "events:read_only"] };
      await authorizeAs("vms:view,dnszones:delete");
      expect((await app.token("vms:delete,dnszones:modify", how)).scopes).toBe("vms:view,dnszones:modify");
    });

    test("are limited per address, and further ones are rejected", async () => {
      const levels = ["view", "modify", "create", "delete"];
      const wanted = levels.flatMap((one) => levels.map((other) => `vms:${one},ips:${other}`));
      const more = levels.map((one) => `images:${one},ips:view`);
      const statuses = [];
      for (const each of [...wanted, ...more, "vms:view", "ips:view", "vms:view,ips:view"])
        statuses.push(await authorizeAs(each));
      expect(statuses).toEqual([...Array.from({ length: 20 }, () => 302), 420, 420, 302]);
    });
  });

  describe("requested scopes in the store", () => {
    let store: KeyValueStore;
    let asked: RequestedScopes;
    let now: number;
    beforeEach(async () => {
      now = 0;
      store = await place.open();
      await place.empty();
      asked = new RequestedScopes(
        store,
        scopes,
        createStoreEpoch(store, () => now),
      );
    });
    afterEach(() => store.close());

    let sender = 0;
    const remember = (text: string, client = "app"): Promise<boolean> =>
      asked.save(client, scopes.read(text).grants, `192.0.2.${(sender += 1) % 250}`);
    const gets = async (v4: string, client = "app"): Promise<string> =>
      scopes.write(await asked.findNarrowest(client, scopes.grants(v4)));

    test.each([
      ["vms:modify | vms:delete", "vms:read_write", "vms:modify"],
      ["vms:modify | vms:view", "vms:read_write", "vms:modify"],
      ["vms:modify | ", "vms:read_write", "vms:modify"],
      ["vms:modify | *", "vms:read_write", "vms:modify"],
      ["vms:modify | vms:view", "vms:read_only", "vms:view"],
      [
        "vms:create,ips:delete | vms:delete,ips:modify",
        "vms:read_write ips:read_write",
        "vms:create,ips:modify",
      ],
      ["vms:modify | ", "", ""],
      ["tickets:modify | users:delete", "account:read_write", "tickets:modify"],
      ["*", "*", "*"],
      // Responses of servers without scopes.
      ["*| vms:modify", "*", "vms:modify"],
      ["vms:modify | *", "vms:read_write ips:read_write", "vms:modify"],
      ["vms:modify,ips:view | vms:delete,ips:delete,images:delete | *", "*", "vms:modify,ips:view"],
      ["vms:modify | dnszones:delete", "*", "vms:modify"],
      ["vms:modify | ", "*", "vms:modify"],
      // Granted more than any request: the lowest levels that fit, and not an empty scope.
      ["vms:view | ", "vms:read_write", "vms:view"],
      ["vms:view | vms:modify", "*", "vms:view"],
    ])("requested %s, granted %s: %s", async (requests, v4, may) => {
      for (const text of requests.split("|")) await remember(text);
      expect(await gets(v4)).toBe(may);
    });

    test("without a request, an application gets what was granted", async () => {
      await remember("vms:view", "another");
      now += 3_600_001;
      expect(await gets("vms:read_write")).toBe("vms:delete");
    });

    test("without a request, in a store younger than an hour, an application gets the lowest levels that fit", async () => {
      await remember("vms:delete");
      await place.empty();
      asked = new RequestedScopes(
        store,
        scopes,
        createStoreEpoch(store, () => now),
      );
      expect(await gets("vms:read_write")).toBe("vms:modify");
      // A new deployment, which has seen all requests.
      await remember("vms:delete");
      expect(await gets("vms:read_write")).toBe("vms:delete");
    });

    test("a process notices that the store was emptied between its start and its first request", async () => {
      await remember("vms:modify");
      const epoch = createStoreEpoch(store, () => now);
      await epoch.read();
      await place.empty();
      asked = new RequestedScopes(store, scopes, epoch);
      await remember("vms:delete");
      expect(await gets("vms:read_write")).toBe("vms:modify");
    });

    test.each(["", "soon new x", "1e3 new x", "1 old x", "{}"])(
      "an epoch that is not valid (%j) counts as that of an emptied store, until a new one is an hour old",
      async (text) => {
        await store.set("asked-epoch", text, 600);
        const epoch = createStoreEpoch(store, () => now);
        expect(await epoch.read()).toBe("emptied");
        expect(await epoch.read()).toBe("emptied");
        now += 3_600_001;
        expect(await epoch.read()).toBe("whole");
      },
    );

    test("a process that noticed an emptied store informs those that start later", async () => {
      const before = createStoreEpoch(store, () => now);
      await before.read();
      await place.empty();
      const after = createStoreEpoch(store, () => now);
      expect([await after.read(), await before.read(), await after.read()]).toEqual([
        "new",
        "emptied",
        "emptied",
      ]);
      now += 3_600_001;
      expect([await after.read(), await before.read()]).toEqual(["whole", "whole"]);
    });

    test("a grant above all requests is not trusted if an unknown sender requests exactly that", async () => {
      await remember("vms:modify");
      now += 3_600_001;
      expect(await gets("vms:read_write ips:read_write")).toBe("vms:modify");
      await remember("vms:delete,ips:delete");
      expect(await gets("vms:read_write ips:read_write")).toBe("vms:modify");
    });

    test("reduced grants stay reduced for scopes that the application has exchanged before", async () => {
      await remember("vms:modify,ips:view");
      await gets("vms:read_write ips:read_only");
      await remember("vms:view");
      expect(await gets("vms:read_write")).toBe("vms:modify");
    });

    const LEVELS = ["view", "modify", "create", "delete"];
    const different = (count: number): string[] =>
      Array.from({ length: count }, (_, n) =>
        ["vms", "ips", "images", "volumes", "longview", "nodebalancers"]
          .map((name, at) => `${name}:${LEVELS[(n >> (2 * at)) & 3]}`)
          .join(","),
      );
    const many = different(25 * 20);
    const from = (text: string, address: string): Promise<boolean> =>
      asked.save("app", scopes.read(text).grants, address);

    test.each([
      ["/48", (n: number) => `2001:db8:7:${(n * 256).toString(16)}::1`, 60],
      ["/56", (n: number) => `2001:db8:7:${n.toString(16)}::1`, 40],
    ])("one %s of IPv6 cannot exhaust an application's requests", async (_, address, most) => {
      const reported = [];
      for (const [at, text] of many.entries()) reported.push(await from(text, address(Math.floor(at / 20))));
      expect(reported.filter(Boolean)).toHaveLength(most);
      expect(await from("stackscripts:view", "192.0.2.77")).toBe(true);
    });

    test("unknown senders with 40 addresses block no address from its first two requests", async () => {
      const reported = [];
      for (const [at, text] of different(800).entries())
        reported.push(await from(text, `198.51.100.${Math.floor(at / 20)}`));
      // 25 addresses use up the shared limit. Then each other address has two requests.
      expect(reported.filter(Boolean)).toHaveLength(500 + 15 * 2);
      for (const text of ["dnszones:view", "dnszones:modify"])
        expect(await from(text, "192.0.2.77")).toBe(true);
      expect(await from("dnszones:create", "192.0.2.77")).toBe(false);
      expect(await gets("domains:read_write")).toBe("dnszones:modify");
    });

    test("unknown senders with a thousand addresses block no exchange that an application has made", async () => {
      await from("dnszones:modify", "192.0.2.1");
      await gets("domains:read_write");
      await place.forgetRequests();
      await place.fill(different(2000));
      expect(await from("dnszones:view", "192.0.2.1")).toBe(false);
      expect(await from("dnszones:modify", "192.0.2.1")).toBe(true);
      expect(await gets("domains:read_write")).toBe("dnszones:modify");
    });

    test("the store is limited to the requests that it can compare, and the stored ones still count", async () => {
      await place.fill(different(1999));
      expect(await remember("dnszones:modify")).toBe(true);
      expect(await remember("dnszones:view")).toBe(false);
      expect(await gets("domains:read_write")).toBe("dnszones:modify");
    });

    test("an emptied store gives the lowest levels that fit for an hour", async () => {
      await remember("vms:modify");
      await place.empty();
      expect(await gets("vms:read_write ips:read_only")).toBe("vms:modify,ips:view");
      await remember("*");
      expect(await gets("*")).toMatch(/^vms:modify,/);
      now += 3_600_001;
      await remember("vms:delete");
      expect(await gets("vms:read_write")).toBe("vms:delete");
    });
  });
}

describe("with SQLite", () => {
  let directory: string;
  beforeAll(async () => {
    directory = temporaryFolder();
  });
  strangersCannotReach({
    settings: () => ({}),
    open: async () => openSqliteKeyValueStore({ directory }),
    async empty() {
      const { DatabaseSync } = await import("node:sqlite");
      const database = new DatabaseSync(join(directory, "state.db"));
      database.exec("DELETE FROM entry; DELETE FROM member");
      database.close();
    },
    async forgetRequests() {
      const { DatabaseSync } = await import("node:sqlite");
      const database = new DatabaseSync(join(directory, "state.db"));
      database.exec("DELETE FROM member WHERE key LIKE 'asked:%'");
      database.close();
    },
    async fill(texts) {
      const { DatabaseSync } = await import("node:sqlite");
      const database = new DatabaseSync(join(directory, "state.db"));
      const insert = database.prepare("INSERT INTO member (key, member, ends) VALUES ('asked:app', ?, ?)");
      database.exec("BEGIN");
      for (const text of texts) insert.run(text, Date.now() + 3_600_000);
      database.exec("COMMIT");
      database.close();
    },
  });
});

const describeRedis = await describeWith("redis-server");
describeRedis("with Redis", () => {
  let redis: RedisServer;
  let link: Awaited<ReturnType<typeof connectRedis>>;
  beforeAll(async () => {
    redis = await createRedisServer();
    await redis.start();
    link = await connectRedis({ url: redis.url, onChange: () => {} });
  });
  afterAll(async () => {
    await link.close();
    await redis.stop();
  });
  strangersCannotReach({
    settings: () => ({ REDIS_URL: redis.url, GATEWAY_SECRET: "s".repeat(32) }),
    open: async () => createRedisStore(link),
    empty: async () => void (await link.run((client) => client.flushDb())),
    forgetRequests: async () =>
      void (await link.run((client) => client.del("alpha-gateway:state:asked:app"))),
    fill: async (texts) => {
      const members = texts.map((value) => ({ value, score: Date.now() + 3_600_000 }));
      await link.run((client) => client.zAdd("alpha-gateway:state:asked:app", members));
    },
  });

  test("a gateway without sign-ins notices that Redis was emptied since its start", async () => {
    await link.run((client) => client.flushDb());
    const gateway = await startGateway({ REDIS_URL: redis.url, GATEWAY_SECRET: "s".repeat(32) });
    const { body } = await gateway.requestV4("POST /account/oauth-clients", {
      body: { label: "app", redirect_uri: REGISTERED },
    });
    const app = createApplication(gateway.app, { id: body.id, secret: body.secret });
    await link.run((client) => client.flushDb());
    expect((await app.token("vms:delete")).scopes).toBe("vms:modify");
  });
});

afterEach(() => void jest.restoreAllMocks());

test("the work of an exchange grows with the number of stored requests, and no faster", async () => {
  const comparisons = [jest.spyOn(scopes, "common"), jest.spyOn(scopes, "includes")];
  const levels = ["view", "modify", "create", "delete"];
  const names = ["vms", "dnszones", "stackscripts", "ips", "nodebalancers", "images", "longview", "volumes"];
  const granted = scopes.grants(names.map((name) => `${name}:read_write`).join(" "));
  for (const count of [500, 1000, 2000]) {
    const members = Array.from({ length: count }, (_, n) =>
      names.map((name, at) => `${name}:${levels[(n >> at) & 3]}`).join(","),
    );
    const store = {
      setMembers: async () => members,
      setIfAbsent: async () => false,
      get: async (key: string) => (key === "asked-epoch" ? "0 new x" : undefined),
      addToSet: async () => true,
    } as unknown as KeyValueStore;
    for (const spy of comparisons) spy.mockClear();
    await new RequestedScopes(store, scopes, createStoreEpoch(store)).findNarrowest("app", granted);
    const calls = comparisons.flatMap((spy) => spy.mock.calls).length;
    expect(calls).toBeGreaterThan(count);
    expect(calls).toBeLessThanOrEqual(6 * count);
  }
});
