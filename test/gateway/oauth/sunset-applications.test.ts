/** The plan and applications: all tokens of an application are one client, which is known before a token is used. */
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { TokenStore, TokenUnavailableError } from "../../../src/gateway/auth/token-store.ts";
import { allBut } from "../../support/fake-time.ts";
import { RECORDING, startGateway, type Gateway, type TestSettings } from "../../support/gateway.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { waitFor } from "../../support/wait-for.ts";
import { createApplication, REGISTERED, type Application } from "./application.ts";

const LIST = "GET /vm/instances";

let gateway: Gateway;
beforeEach(() => {
  jest.useFakeTimers({ now: new Date("2026-06-01T09:00:00Z"), doNotFake: allBut("Date") });
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

type Registered = Application & { readonly id: string };

/** A gateway with a plan, and an application that is registered at v4. */
async function startWith(plan: string, settings: TestSettings = {}): Promise<Registered> {
  const SUNSET_FILE = writeOperatorFile(`announced: 2026-01-01\n${plan}`);
  gateway = await startGateway({ SUNSET_FILE, ...RECORDING, ...settings });
  return register();
}

async function register(): Promise<Registered> {
  const { body } = await gateway.requestV4("POST /account/oauth-clients", {
    body: { label: "app", redirect_uri: REGISTERED },
  });
  return { ...createApplication(gateway.app, body), id: body.id };
}

/** Waits until the only stage of the plan is in a state. */
const waitForStage = (expected: object): Promise<boolean> =>
  waitFor(async () => {
    const [stage] = (await gateway.requestAdmin("GET /api/sunset")).body.plan.stages;
    return Object.entries(expected).every(
      ([name, value]) => JSON.stringify(stage[name]) === JSON.stringify(value),
    );
  });

test("a freeze lets in new users of an application that is known, and of no other", async () => {
  const application = await startWith("stages: [{ freeze: 2026-06-01 }]");
  jest.setSystemTime(new Date("2026-05-31T23:00:00Z"));
  const { token: first } = await application.token("vms:view");
  expect((await gateway.request(LIST, { as: first })).status).toBe(200);
  jest.setSystemTime(new Date("2026-06-01T00:00:03Z"));
  const { token: second } = await application.token("vms:view");
  expect((await gateway.request(LIST, { as: second })).status).toBe(200);
  const other = await register();
  const { token: stranger } = await other.token("vms:view");
  expect((await gateway.request(LIST, { as: stranger })).status).toBe(403);
});

test("a freeze lets in a token of which it can't be read to which application it was issued", async () => {
  const application = await startWith("stages: [{ freeze: 2026-06-01 }]");
  jest.setSystemTime(new Date("2026-05-31T23:00:00Z"));
  const { token: first } = await application.token("vms:view");
  expect((await gateway.request(LIST, { as: first })).status).toBe(200);
  jest.setSystemTime(new Date("2026-06-01T00:00:03Z"));
  const { token: second } = await application.token("vms:view");
  jest.spyOn(TokenStore.prototype, "find").mockRejectedValue(new TokenUnavailableError("the store is down"));
  expect((await gateway.request("GET /datacenters", { as: second })).status).toBe(200);
  // Without the store nobody knows what the token may do.
  expect((await gateway.request(LIST, { as: second })).status).toBe(500);
});

test("a window for a name hits all tokens of its application, without a call of v4", async () => {
  const CLIENTS_FILE = writeOperatorFile("mobile: {}", "clients.yaml");
  const application = await startWith(
    `stages: [{ brown_out: "0 10 * * *", for: 1h, from: 2026-05-01, clients: [mobile] }]`,
    { CLIENTS_FILE },
  );
  const tokens = [await application.token("vms:view"), await application.token("vms:view")];
  expect((await gateway.request(LIST, { as: tokens[0]?.token ?? "" })).status).toBe(200);
  const [{ client }] = await gateway.readAudit();
  writeFileSync(CLIENTS_FILE, `mobile: { applications: [${client.application}] }`);
  await gateway.reload();
  jest.setSystemTime(new Date("2026-06-01T10:30:00Z"));
  gateway.takeV4Requests();
  for (const { token } of tokens) expect((await gateway.request(LIST, { as: token })).status).toBe(500);
  expect(gateway.takeV4Requests()).toEqual([]);
  expect((await gateway.request(LIST)).status).toBe(200);
});

test("no user can sign in after the end: authorize and token are 410 with text and link, and revocation works", async () => {
  const application = await startWith("end: 2026-07-01\npolicy: https://example.com/end");
  const { token } = await application.token("vms:view");
  const code = (await application.signIn("vms:view")).searchParams.get("code") ?? "";
  jest.setSystemTime(new Date("2026-07-01T00:00:03Z"));
  gateway.takeV4Requests();
  const responses = [
    await application.visit(application.authorizeUrl({ scopes: "vms:view" })),
    await application.exchange(code),
  ];
  for (const { status, body } of responses) {
    expect(status).toBe(410);
    expect(body).toMatchObject({
      errors: [{ reason: "Error: this interface has ended. See https://example.com/end" }],
    });
  }
  expect(gateway.takeV4Requests()).toEqual([]);
  expect((await application.expire(token)).status).toBe(200);
  const records = await gateway.readAudit();
  expect(records.filter(({ rejectedBy }) => rejectedBy === "sunset").length).toBe(2);
});

test("a window of all stops sign-ins as well, and a freeze does not: it rejects the first request", async () => {
  const application = await startWith(
    `stages: [{ freeze: 2026-05-01 }, { brown_out: "0 10 * * *", for: 1h, from: 2026-05-01 }]`,
  );
  const { token } = await application.token("vms:view");
  expect((await gateway.request(LIST, { as: token })).status).toBe(403);
  jest.setSystemTime(new Date("2026-06-01T10:30:00Z"));
  const url = application.authorizeUrl({ client_id: application.id, scopes: "vms:view" });
  const { status, headers } = await application.visit(url);
  expect([status, headers.get("retry-after")]).toEqual([500, "1802"]);
});

describe("requests that only name an application", () => {
  const WINDOWS = (waitingFor: string): string =>
    `stages: [{ brown_out: "0 10 * * 1", for: 1h, from: 2026-05-01, wait_for: [${waitingFor}] }]`;

  test("are no storm of retries of it", async () => {
    // The state of a stage that waits for somebody shows when its traffic was read.
    const CLIENTS_FILE = writeOperatorFile("silent: {}", "clients.yaml");
    const application = await startWith(WINDOWS("silent"), { CLIENTS_FILE });
    const { token } = await application.token("vms:view");
    expect((await gateway.request(LIST, { as: token })).status).toBe(200);
    jest.setSystemTime(new Date("2026-06-01T10:30:00Z"));
    await waitForStage({ state: "active" });
    const url = application.authorizeUrl({ client_id: application.id, scopes: "vms:view" });
    for (let visit = 0; visit < 150; visit += 1) expect((await application.visit(url)).status).toBe(500);
    for (let exchange = 0; exchange < 150; exchange += 1) await application.exchange("nothing");
    expect((await gateway.requestAdmin("GET /api/sunset")).body.plan.pauses).toEqual([]);
  });

  test("let no window wait for it, and its own requests do", async () => {
    const CLIENTS_FILE = writeOperatorFile("mobile: {}", "clients.yaml");
    const application = await startWith(WINDOWS("mobile"), { CLIENTS_FILE });
    writeFileSync(CLIENTS_FILE, `mobile: { applications: [${application.id}] }`);
    await gateway.reload();
    const { token } = await application.token("vms:view");
    expect((await gateway.request(LIST, { as: token })).status).toBe(200);
    jest.setSystemTime(new Date("2026-06-08T10:30:00Z"));
    await waitForStage({ state: "waiting", blockedBy: ["mobile"] });
    const url = application.authorizeUrl({ client_id: application.id, scopes: "vms:view" });
    expect((await application.visit(url)).status).toBe(302);
    expect((await application.exchange("nothing")).status).toBe(400);
    jest.setSystemTime(new Date("2026-06-22T10:30:00Z"));
    await waitForStage({ state: "active" });
    expect((await gateway.request(LIST, { as: token })).text).toContain("is switched off for a while");
  });
});

test("a window waits for a token and its name, whatever application it was issued to", async () => {
  const CLIENTS_FILE = writeOperatorFile("billing: {}", "clients.yaml");
  const application = await startWith(
    `stages: [{ brown_out: "0 10 * * *", for: 1h, from: 2026-05-01, wait_for: [billing] }]`,
    { CLIENTS_FILE },
  );
  const { token } = await application.token("vms:view");
  expect((await gateway.request(LIST, { as: token })).status).toBe(200);
  const [{ client }] = await gateway.readAudit();
  writeFileSync(CLIENTS_FILE, `billing: { tokens: ["${client.fingerprint}"] }`);
  await gateway.reload();
  jest.setSystemTime(new Date("2026-06-01T10:30:00Z"));
  await waitForStage({ state: "waiting", blockedBy: ["billing"] });
  expect((await gateway.request(LIST, { as: token })).status).toBe(200);
});
