/** Strangers in front of two services: what anybody can invent decides nothing, and costs no more than one client. */
import { beforeEach, expect, test } from "@jest/globals";
import { json, neverRespond, type ReceivedRequest } from "../../support/fake-v4.ts";
import { startGateway, type Gateway, type TestResponse } from "../../support/gateway.ts";
import { startOldService, type TestOldService } from "../../support/old-service.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { waitFor } from "../../support/wait-for.ts";

const LIST = "GET /vm/instances";
const CLIENTS = "billing: { user_agents: [billing/*] }\nreports: { user_agents: [reports/*] }\n";
const COMPARE_NOTHING = "compare: { share: 0% }";
const COMPARE_ALL = "compare: { share: 100%, per_second: 500, client_share: 100% }";

let old: TestOldService;
let gateway: Gateway;
beforeEach(async () => {
  old = await startOldService();
  old.respondWith(json(200, { vms: [] }));
});

async function start(rollout: string, settings: Readonly<Record<string, string>> = {}): Promise<void> {
  gateway = await startGateway({
    LEGACY_URL: old.url,
    CLIENTS_FILE: writeOperatorFile(CLIENTS, "clients.yaml"),
    ROLLOUT_FILE: writeOperatorFile(rollout, "rollout.yaml"),
    ...settings,
  });
}

const call = (client: string, as = "full"): Promise<TestResponse> =>
  gateway.request(LIST, {
    as,
    headers: {
      "user-agent": `${client}/1`,
      "x-forwarded-for": client === "reports" ? "203.0.113.2" : "203.0.113.1",
    },
  });

const isInvented = ({ headers }: ReceivedRequest): boolean =>
  headers.authorization?.includes("invented") ?? false;

async function trips(): Promise<readonly unknown[]> {
  return (await gateway.requestAdmin("GET /api/rollout")).body.rollout.trips;
}

test.each([
  ["the old service answers", `data: shared\n${COMPARE_NOTHING}\nnew: [{ clients: [billing] }]`, "reports"],
  ["are compared", `data: shared\n${COMPARE_ALL}\nnew: all`, "billing"],
])(
  "invented tokens with which the old service fails put no return off, where %s",
  async (_where, rollout, client) => {
    await start(rollout);
    old.respondWith((received, response) =>
      json(isInvented(received) ? 500 : 200, { vms: [] })(received, response),
    );
    await call(client);
    await waitFor(() => old.calls.some((each) => !isInvented(each)));
    const before = old.calls.length;
    for (let index = 0; index < 120; index += 1) await call(client, `invented${index}`);
    await waitFor(() => old.calls.length >= before + 100);
    await gateway.sandbox.close();
    for (let index = 0; index < 5; index += 1) await call("billing");
    expect(await trips()).toEqual([expect.objectContaining({ kind: "route", name: LIST, by: "gateway" })]);
  },
);

test("one client for which the old service fails does not delay a return of other clients", async () => {
  await start(`data: shared\n${COMPARE_ALL}\nnew: all`, { TRUST_PROXY: "127.0.0.1" });
  const isSlow = ({ path }: ReceivedRequest): boolean => path.includes("slow");
  old.respondWith((received, response) =>
    json(isSlow(received) ? 500 : 200, { vms: [] })(received, response),
  );
  const callSlow = (): Promise<TestResponse> =>
    gateway.request(`${LIST}?slow=1`, {
      as: "readOnly",
      headers: { "user-agent": "x/1", "x-forwarded-for": "203.0.113.9" },
    });
  await call("billing");
  await call("reports", "vms");
  for (let index = 0; index < 20; index += 1) await callSlow();
  await waitFor(() => old.calls.filter(isSlow).length >= 20);
  await gateway.sandbox.close();
  // One client that sees the translation fail would decide for nobody but itself.
  for (let index = 0; index < 8; index += 1) await Promise.all([call("billing"), call("reports", "vms")]);
  expect(await trips()).toEqual([expect.objectContaining({ kind: "route", name: LIST, by: "gateway" })]);
});

test("invented tokens to which the old service answers do not make it well", async () => {
  await start(`data: shared\n${COMPARE_NOTHING}\nnew: [{ clients: [billing] }]`);
  await call("reports");
  old.respondWith((received, response) => json(isInvented(received) ? 401 : 500, {})(received, response));
  for (let index = 0; index < 10; index += 1) await call("reports");
  for (let index = 0; index < 120; index += 1) await call("reports", `invented${index}`);
  await gateway.sandbox.close();
  for (let index = 0; index < 5; index += 1) await call("billing");
  expect(await trips()).toEqual([]);
  expect((await gateway.requestAdmin("GET /metrics")).text).toContain("alpha_gateway_rollout_blocked 1");
});

test("invented tokens with the user agents of clients share the budget of one client", async () => {
  await start("data: shared\ncompare: { share: 100%, per_second: 500, client_share: 1% }\nnew: all", {
    RATE_LIMIT: "500/120",
  });
  for (let index = 0; index < 10; index += 1) {
    await call("billing", `invented${index}`);
    await call("reports", `invented${index}`);
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(old.calls.length).toBeLessThanOrEqual(5);
});

test.each([
  ["without a token", null, "POST /nowhere"],
  ["with an invented token", "invented", "PUT /vm/instances/1"],
])("a write %s ends no comparison of the client whose user agent it has", async (_what, as, write) => {
  await start(`data: shared\n${COMPARE_ALL}`);
  old.respondWith((received, response) =>
    (received.method === "GET" ? json(200, { vms: [] }) : neverRespond)(received, response),
  );
  await call("billing");
  await call("billing");
  const headers = { "user-agent": "billing/1" };
  const hanging = gateway.request(write, { as, headers, body: {} }).catch(() => {});
  await waitFor(() => old.calls.some(({ method }) => method !== "GET"));
  await call("billing");
  const found = await waitFor(async () => {
    const { body } = await gateway.requestAdmin("GET /api/parity?source=legacy");
    const [route] = body.sources[0]?.routes ?? [];
    return route?.comparisons === 3 ? route : undefined;
  });
  expect(found.notComparable).not.toHaveProperty("write");
  await gateway.stop();
  await hanging;
});

test("a client whose token is accepted has its own budget", async () => {
  await start("data: shared\ncompare: { share: 100%, per_second: 500, client_share: 1% }\nnew: all", {
    RATE_LIMIT: "500/120",
  });
  for (let index = 0; index < 20; index += 1) await call("reports", `invented${index}`);
  await call("billing");
  const before = old.calls.length;
  await call("billing");
  await waitFor(() => old.calls.length > before);
  expect(isInvented(old.calls.at(-1)!)).toBe(false);
});
