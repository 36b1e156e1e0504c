/** `data: replicated`: a write keeps nobody on a side but its own sender, and only if a service has accepted it. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { json, startFakeV4 } from "../../support/fake-v4.ts";
import { openGateway, startGateway, type Gateway, type TestResponse } from "../../support/gateway.ts";
import { startOldService, type TestOldService } from "../../support/old-service.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { request } from "../../support/request.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

const LIST = "GET /vm/instances";
/** Writes of a stranger before the return, and again after it. */
const GROWTH = [1, 100];
const ROLLOUT = "data: { replicated: 60s }\ncompare: { share: 0% }\nnew: all";
const CLIENTS = "billing: { user_agents: [billing/*] }\n";
const TURN_BACK = { body: { by: "Ann", target: "all" } };

let old: TestOldService;
let gateway: Gateway;
beforeEach(async () => {
  old = await startOldService();
  old.respondWith(json(200, { from: "old" }));
  gateway = await startGateway({
    LEGACY_URL: old.url,
    CLIENTS_FILE: writeOperatorFile(CLIENTS, "clients.yaml"),
    ROLLOUT_FILE: writeOperatorFile(ROLLOUT, "rollout.yaml"),
  });
});

/** Sends a request. @param client The name in its user agent @param as Its token: see `GatewayRequest` */
const send = (client: string, call: string, as: string | null, body?: object): Promise<TestResponse> =>
  gateway.request(call, { as, headers: { "user-agent": `${client}/1` }, ...(body && { body }) });

/** The side that answers a read of a customer. */
async function sideOf(client: string): Promise<"old" | "new"> {
  const { status, body } = await send(client, LIST, "full");
  expect(status).toBe(200);
  return body.from === "old" ? "old" : "new";
}

async function turnBack(): Promise<void> {
  const { status } = await gateway.requestAdmin("POST /api/rollout/turn-back", TURN_BACK);
  expect(status).toBe(200);
}

/** Renames the first instance, on the side of the client. @returns the status */
async function rename(client: string, as: string): Promise<number> {
  const { body } = await send(client, LIST, "full");
  return (await send(client, `PUT /vm/instances/${body.vms[0].id}`, as, { label: "renamed" })).status;
}

describe.each(GROWTH)("%i writes of a stranger", (count) => {
  test.each([
    ["without a token", "a customer without a name", "some", null],
    ["with a made-up token", "a customer without a name", "some", "made-up-00000001"],
    ["without a token", "the client whose user agent they have", "billing", null],
    ["with a made-up token", "the client whose user agent they have", "billing", "made-up-00000001"],
  ])(
    "%s don't keep %s on the translation after a return",
    async (_token, _customer, client, as) => {
      const write = async (): Promise<void> => {
        for (let index = 0; index < count; index += 1) await send(client, "POST /vm/instances", as, {});
      };
      expect(await sideOf(client)).toBe("new");
      await write();
      await turnBack();
      expect(await sideOf(client)).toBe("old");
      await write();
      expect(await sideOf(client)).toBe("old");
    },
    60_000,
  );
});

describe("a write that the translation has accepted", () => {
  test.each(["billing", "some"])("keeps its sender %s on the translation after a return", async (client) => {
    expect(await rename(client, "full")).toBe(200);
    await turnBack();
    expect(await sideOf(client)).toBe("new");
  });

  test.each(["billing", "some"])("keeps nobody else who is called %s", async (client) => {
    expect(await sideOf(client)).toBe("new");
    expect(await rename(client, "vms")).toBe(200);
    await turnBack();
    expect(await sideOf(client)).toBe("old");
  });
});

test("a write that the translation has refused does not keep its sender", async () => {
  expect(await sideOf("billing")).toBe("new");
  const { status } = await send("billing", "PUT /vm/instances/999999", "full", { label: "renamed" });
  expect(status).toBe(404);
  await turnBack();
  expect(await sideOf("billing")).toBe("old");
});

test.each(["billing/1", "some/1"])(
  "where clients need no token, a write of %s keeps only its network",
  async (userAgent) => {
    const v4 = await startFakeV4();
    v4.respondWith(json(200, { id: 1, name: "new" }));
    const pack = writeSmallPack({
      book: {
        fields: { id: "id", title: "name" },
        routes: [
          { client: "GET /books/:id", upstream: "GET /items/{id}" },
          { client: "DELETE /books/:id", upstream: "DELETE /items/{id}" },
        ],
      },
    });
    const open = await openGateway({
      UPSTREAM_URL: v4.url,
      LEGACY_URL: old.url,
      MAPPINGS_DIR: pack,
      TRUST_PROXY: "127.0.0.1",
      CLIENTS_FILE: writeOperatorFile(CLIENTS, "clients.yaml"),
      ROLLOUT_FILE: writeOperatorFile(ROLLOUT, "rollout.yaml"),
    });
    const sendFrom = (address: string, call: string) =>
      request(open.app, call, { headers: { "user-agent": userAgent, "x-forwarded-for": address } });
    const isOld = async (address: string): Promise<boolean> =>
      (await sendFrom(address, "GET /books/1")).body.from === "old";
    expect(await isOld("192.0.2.1")).toBe(false);
    await sendFrom("198.51.100.9", "DELETE /books/1");
    expect(v4.calls.at(-1)?.method).toBe("DELETE");
    await open.requestAdmin("POST /api/rollout/turn-back", TURN_BACK);
    expect([await isOld("192.0.2.1"), await isOld("198.51.100.9")]).toEqual([true, false]);
  },
);
