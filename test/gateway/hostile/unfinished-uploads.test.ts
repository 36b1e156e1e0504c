/** Uploads to the old service that their client does not finish: they say nothing about the old service. */
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startListeningGateway, type ListeningGateway, type TestResponse } from "../../support/gateway.ts";
import { startOldService, type TestOldService } from "../../support/old-service.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { openRawClient, type RawClient } from "../../support/raw-client.ts";
import { waitFor } from "../../support/wait-for.ts";

const LIST = "GET /vm/instances";
const OTHER_ROUTE = "GET /networking/ipv4";
/** Longer than a call may wait until it counts as failed. */
const LONG_MS = 2200;

let old: TestOldService;
let gateway: ListeningGateway;
let uploads: RawClient[];
beforeEach(async () => {
  uploads = [];
  old = await startOldService();
  old.respondWith(json(200, { from: "old" }));
  gateway = await startListeningGateway({
    LEGACY_URL: old.url,
    CLIENTS_FILE: writeOperatorFile("billing: { user_agents: [billing/*] }\n", "clients.yaml"),
    ROLLOUT_FILE: writeOperatorFile(
      "data: shared\ncompare: { share: 0% }\nnew: [{ clients: [billing] }]",
      "rollout.yaml",
    ),
  });
});
afterEach(() => {
  for (const upload of uploads) upload.close();
});

const call = (as: string, agent: string, route: string): Promise<TestResponse> =>
  gateway.request(route, { as, headers: { "user-agent": `${agent}/1` } });

/** Sends the head of a request with a body, and the first byte of the body. */
async function beginUpload(token: string): Promise<void> {
  const client = await openRawClient(gateway.url);
  uploads.push(client);
  client.send(
    `${LIST.replace("/vm", "/v4/vm")} HTTP/1.1\r\nHost: gateway\r\nAuthorization: token ${token}\r\nContent-Length: 1000\r\n\r\na`,
  );
}

async function trips(): Promise<readonly unknown[]> {
  return (await gateway.requestAdmin("GET /api/rollout")).body.rollout.trips;
}

test.each([
  ["one customer", ["vms"], 1],
  ["one customer with many of them", ["vms"], 100],
  ["several customers", ["vms", "readOnly"], 1],
])(
  "of %s keep no route from returning",
  async (_whose, customers, count) => {
    // The old service has accepted the tokens of all.
    for (const as of [...customers, "full"]) await call(as, "other", OTHER_ROUTE);
    const before = old.calls.length;
    for (const as of customers)
      for (let index = 0; index < count; index += 1) await beginUpload(gateway.sandbox.tokens[as as "vms"]);
    await waitFor(() => old.calls.length >= before + customers.length);
    await wait(LONG_MS);
    expect(uploads.map((upload) => upload.text()).join("")).toBe("");
    await call("full", "other", OTHER_ROUTE);
    await call("full", "billing", LIST);
    await gateway.sandbox.close();
    for (let index = 0; index < 5; index += 1) await call("full", "billing", LIST);
    await waitFor(async () => (await trips()).length === 1);
    expect(await trips()).toEqual([expect.objectContaining({ kind: "route", name: LIST, by: "gateway" })]);
  },
  30_000,
);
