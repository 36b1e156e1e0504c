/** Requests by client in the metrics: only the names of the directory. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { createMetrics } from "../../../src/base/metrics/metrics.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { startGateway, type Gateway } from "../../support/gateway.ts";
import { request } from "../../support/request.ts";

let folder: string;
let gateway: Gateway;
beforeAll(async () => {
  folder = temporaryFolder();
  const file = join(folder, "clients.yaml");
  await writeFile(
    file,
    "billing:\n  applications: [app-1]\n  user_agents: [billing-sync/*]\nreports:\n  user_agents: [reports/*]\n",
  );
  const settings = { CLIENTS_FILE: file, CLIENT_HEADER: "X-Client", TRUST_PROXY: "127.0.0.0/8,::1" };
  gateway = await startGateway(settings);
});

const countsOf = async (): Promise<Record<string, number>> => {
  const { text } = await gateway.requestAdmin("GET /metrics");
  const lines = [
    ...text.matchAll(/^alpha_gateway_client_requests_total\{lane="(\w+)",client="([^"]*)"\} (\d+)$/gm),
  ];
  return Object.fromEntries(lines.map(([, lane, name, count]) => [`${lane} ${name}`, Number(count)]));
};

test("requests are counted by the names of the directory, and all others together, even without auditing", async () => {
  const send = (headers: Readonly<Record<string, string>>) =>
    gateway.request("GET /vm/instances", { headers });
  await send({ "user-agent": "billing-sync/2" });
  await send({ "user-agent": "billing-sync/2", "x-client": "reports" });
  await send({ "user-agent": "somebody/1" });
  await send({ "user-agent": "nobody/1", "x-client": "not in the file" });
  await gateway.request("GET /v4/linode/instances", {
    as: null,
    headers: { authorization: `Bearer ${gateway.sandbox.tokens.full}`, "user-agent": "reports/1" },
  });
  // Anybody can send this id.
  await request(gateway.app, "GET /oauth/authorize?client_id=app-1");
  expect(await countsOf()).toMatchObject({
    "alpha billing": 1,
    "alpha reports": 1,
    "native reports": 1,
  });
  expect(Object.keys(await countsOf()).toSorted()).toEqual([
    "alpha billing",
    "alpha other",
    "alpha reports",
    "native reports",
  ]);
});

test("names are bounded: those above the limit count as other", async () => {
  const metrics = createMetrics();
  for (let n = 0; n < 2100; n += 1) metrics.countClientRequest("alpha", `client-${n}`);
  metrics.countClientRequest("alpha", "client-7");
  const text = await metrics.text();
  metrics.close();
  expect(text.match(/^alpha_gateway_client_requests_total\{/gm)).toHaveLength(2001);
  expect(text).toContain('alpha_gateway_client_requests_total{lane="alpha",client="other"} 100');
  expect(text).toContain('alpha_gateway_client_requests_total{lane="alpha",client="client-7"} 2');
});

test("the last request of each name is a time, by lane", async () => {
  const metrics = createMetrics();
  const before = Math.floor(Date.now() / 1000);
  metrics.countClientRequest("alpha", "reports");
  const text = await metrics.text();
  metrics.close();
  const [, time] =
    /^alpha_gateway_client_last_request_timestamp_seconds\{lane="alpha",client="reports"\} (\d+)$/m.exec(
      text,
    ) ?? [];
  expect(Number(time)).toBeGreaterThanOrEqual(before);
  expect(Number(time)).toBeLessThanOrEqual(Date.now() / 1000);
});
