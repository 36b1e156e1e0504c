/** Notices about a gateway that serves requests, from the audit and the plan to the receiver. */
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { allBut } from "../../support/fake-time.ts";
import { RECORDING, startGateway, type Gateway } from "../../support/gateway.ts";
import {
  startWebhookReceiver,
  WEBHOOK_SECRET,
  type WebhookReceiver,
} from "../../support/notice-receivers.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { waitFor } from "../../support/wait-for.ts";

const LIST = "GET /vm/instances";
/** A Monday. */
const START = "2026-06-01T09:00:00Z";
const PLAN = `announced: 2026-01-01
end: 2027-03-31
stages:
  - { name: first, brown_out: "0 10 * * 1", for: 1h, from: 2026-05-01, routes: ["${LIST}"] }
`;

let webhook: WebhookReceiver;
let folder: string;
let file: string;

beforeEach(async () => {
  jest.useFakeTimers({ now: new Date(START), doNotFake: allBut("Date") });
  webhook = await startWebhookReceiver();
  folder = temporaryFolder();
  jest.replaceProperty(process, "env", { ...process.env, NOTICES_SECRET: WEBHOOK_SECRET });
  file = writeOperatorFile(
    `receivers: { hook: { webhook: "${webhook.url}", secret: { env: NOTICES_SECRET } } }\n`,
    "notices.yaml",
  );
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

function moveTo(moment: string): void {
  jest.setSystemTime(new Date(moment));
}

/** Starts a gateway, and waits for the first look: what it sees is not news. */
async function start(): Promise<Gateway> {
  const gateway = await startGateway({
    DATA_DIR: folder,
    NOTICES_FILE: file,
    SUNSET_FILE: writeOperatorFile(PLAN),
    CLIENTS_FILE: writeOperatorFile(
      `billing: { user_agents: ["billing/*"], contact: billing@customer.example }\n`,
      "clients.yaml",
    ),
    ...RECORDING,
    TRUST_PROXY: "127.0.0.1",
  });
  const store = openSqliteKeyValueStore({ directory: folder });
  await waitFor(async () => (await store.get("notices:state"))?.includes('"stages"'));
  await store.close();
  return gateway;
}

const received = (type: string) => webhook.received.filter(({ body }) => body.type === type);

describe("a gateway with NOTICES_FILE", () => {
  test("tells of a new client, of stages that begin and end, and of a client that is ready, each once", async () => {
    const { request, requestAdmin, sandbox } = await start();
    await request(LIST, { headers: { "user-agent": "billing/2" } });
    moveTo("2026-06-01T09:06:00Z");
    await waitFor(() => received("client.new").length > 0);
    expect(received("client.new")[0]?.body.data).toMatchObject({
      client: "billing",
      isNamed: true,
      state: "not begun",
      lastAlpha: expect.stringMatching(/^2026-06-01T09:0/),
    });
    moveTo("2026-06-01T10:00:30Z");
    await waitFor(() => received("stage.begins").length > 0);
    expect(received("stage.begins")[0]?.body.data).toEqual({
      stage: "first",
      kind: "brown_out",
      state: "active",
      until: "2026-06-01T11:00:00.000Z",
      routes: [LIST],
      clients: [],
    });
    moveTo("2026-06-01T11:00:30Z");
    await waitFor(() => received("stage.ends").length > 0);
    moveTo("2026-06-11T08:00:00Z");
    const authorization = `Bearer ${sandbox.tokens.full}`;
    await request(LIST, { as: null, headers: { authorization, "user-agent": "billing/3" } });
    moveTo("2026-06-11T08:10:00Z");
    await waitFor(() => received("client.ready").length > 0);
    expect(webhook.received.map(({ body }) => body.type)).toEqual([
      "client.new",
      "stage.begins",
      "stage.ends",
      "client.ready",
    ]);
    const { text } = await requestAdmin("GET /metrics");
    expect(text).toContain('alpha_gateway_notices_total{event="client.new",result="sent"} 1\n');
    expect(text).toContain('alpha_gateway_notices_total{event="storm",result="dropped"} 0\n');
    expect(text).toMatch(/^alpha_gateway_notices_waiting 0$/m);
    expect(text).toMatch(/^alpha_gateway_notices_receivers_failing 0$/m);
    expect(text).toMatch(/^alpha_gateway_notices_ignored 0$/m);
    expect(text).toContain('alpha_gateway_notices_total{event="client.new",result="limited"} 0\n');
    expect(text).not.toContain("customer.example");
  });

  test("tells of a client that came back after it was ready, and of the first loss of a meaning", async () => {
    const { request, sandbox } = await start();
    const authorization = `Bearer ${sandbox.tokens.full}`;
    await request(LIST);
    moveTo("2026-06-01T09:06:00Z");
    await waitFor(() => received("client.new").length > 0);
    moveTo("2026-06-11T08:00:00Z");
    await request(LIST, { as: null, headers: { authorization } });
    moveTo("2026-06-13T08:00:00Z");
    await waitFor(() => received("client.ready").length > 0);
    const body = { username: "erin", email: "erin@example.com", password: "correct horse", restricted: true };
    await request("POST /account/users", { body });
    moveTo("2026-06-13T08:10:00Z");
    await waitFor(() => received("client.came_back").length > 0 && received("loss").length > 0);
    expect(received("client.came_back")[0]?.body.data).toMatchObject({ cameBack: "2026-06-13" });
    expect(received("loss").map((notice) => notice.body.data)).toEqual([
      expect.objectContaining({
        route: "POST /account/users",
        loss: expect.stringContaining("password"),
        since: "2026-06-13",
      }),
    ]);
  });

  test("keeps the receivers that it has if a changed file is invalid", async () => {
    const { request, requestAdmin } = await start();
    writeFileSync(file, "receivers: { hook: {} }\n");
    await waitFor(async () => {
      const { text } = await requestAdmin("GET /metrics");
      return text.includes("alpha_gateway_notices_file_last_reload_successful 0\n");
    });
    await request(LIST);
    moveTo("2026-06-01T09:06:00Z");
    await waitFor(() => webhook.received.length > 0);
    expect(received("client.new")).toHaveLength(1);
  });
});
