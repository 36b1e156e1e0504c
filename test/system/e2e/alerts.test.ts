/**
 * The shipped alerts, evaluated by Prometheus' own tool. Each series is made of two scrapes of a real gateway: what
 * grew between them goes on growing like that for an hour.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { beforeEach, expect, test } from "@jest/globals";
import { json, startFakeV4, type FakeV4 } from "../../support/fake-v4.ts";
import { createRedisServer, sharedBy, type RedisServer } from "../../support/redis-server.ts";
import { startOldService } from "../../support/old-service.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { describeWith } from "../../support/services.ts";
import { waitFor } from "../../support/wait-for.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { REPOSITORY, serve, type Serving } from "./program.ts";

const MINUTES = 60;

/** Values of series by their names and labels. */
type Scrape = ReadonlyMap<string, number>;

async function scrape({ admin }: Serving): Promise<{ readonly text: string; readonly values: Scrape }> {
  const text = await (await fetch(`${admin}/metrics`)).text();
  const lines = text.matchAll(/^([a-z]\w*(?:\{.*\})?) (\S+)$/gm);
  return { text, values: new Map([...lines].map(([, name = "", value]) => [name, Number(value)])) };
}

/** Whether a scraper reaches a gateway. */
const up = (instance: string, values: string): Series => ({
  series: `up{job="alpha-gateway",instance="${instance}"}`,
  values,
});

/** What a scraper adds. */
const withInstance = (name: string, instance: string): string =>
  name.includes("{") ? name.replace(/\}$/, `,instance="${instance}"}`) : `${name}{instance="${instance}"}`;

interface Series {
  readonly series: string;
  readonly values: string;
}

/** A gateway whose clients go on as they do in `use`. */
async function seriesOf(gateway: Serving, use: () => Promise<unknown>): Promise<Series[]> {
  await use();
  const before = (await scrape(gateway)).values;
  await use();
  const { text, values } = await scrape(gateway);
  const gauges = new Set([...text.matchAll(/^# TYPE (\S+) gauge$/gm)].map(([, name]) => name));
  const series = [...values].map(([name, value]) => {
    const isGauge = gauges.has(name.replace(/\{.*/, ""));
    const step = isGauge ? 0 : value - (before.get(name) ?? 0);
    return { series: withInstance(name, gateway.admin), values: `${value}+${step}x${MINUTES}` };
  });
  return [up(gateway.admin, `1x${MINUTES}`), ...series];
}

/** They depend on how fast the machine of the tests is. */
const OF_TIME = "GatewayIsSlow|GatewayIsFull";

/** What the tool says unless these alerts fire after an hour, and no others. */
function differenceFrom(alerts: readonly string[], series: readonly Series[]): string {
  const file = join(temporaryFolder(), "alerts.test.json");
  const firing = `count by (alertname) (ALERTS{alertstate="firing",alertname!~"${OF_TIME}"})`;
  const expected = alerts.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 }));
  // A test of rules is YAML, which JSON is too.
  writeFileSync(
    file,
    JSON.stringify({
      rule_files: [join(REPOSITORY, "deploy", "prometheus", "alerts.yaml")],
      evaluation_interval: "1m",
      tests: [
        {
          interval: "1m",
          input_series: series,
          promql_expr_test: [{ expr: firing, eval_time: `${MINUTES}m`, exp_samples: expected }],
        },
      ],
    }),
  );
  try {
    execFileSync("promtool", ["test", "rules", file], { encoding: "utf8", stdio: "pipe" });
    return "";
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return `${stdout}${stderr}`;
  }
}

let v4: FakeV4;
let redis: RedisServer;
beforeEach(async () => {
  redis = await createRedisServer();
  v4 = await startFakeV4();
  v4.respondWith(json(200, { data: [], page: 1, pages: 1, results: 0 }, { "x-oauth-scopes": "*" }));
});

const start = (env: Readonly<Record<string, string>> = {}): Promise<Serving> =>
  serve(temporaryFolder(), { env: { UPSTREAM_URL: v4.url, LOG_LEVEL: "silent", ...env } });

async function ask({ url }: Serving, path = "/vm/instances", count = 20): Promise<void> {
  const headers = { authorization: "token good" };
  for (let n = 0; n < count; n += 1) await (await fetch(`${url}/v4${path}`, { headers })).arrayBuffer();
}

const replicasOf = async (gateway: Serving): Promise<number | undefined> =>
  (await scrape(gateway)).values.get("alpha_gateway_replicas");

const BROWN_OUT = `announced: 2026-01-01
stages: [{ brown_out: "* * * * *", for: 1h, from: 2026-01-01, routes: [GET /vm/instances] }]
`;

const describeAlerts = await describeWith("promtool", "redis-server");

describeAlerts("the shipped alerts", () => {
  test("are silent in a quiet night, and page while v4 is down", async () => {
    const gateway = await start();
    await ask(gateway);
    expect(differenceFrom([], await seriesOf(gateway, async () => {}))).toBe("");
    await v4.close();
    expect(
      differenceFrom(["GatewayFails", "V4DoesNotRespond"], await seriesOf(gateway, () => ask(gateway))),
    ).toBe("");
  });

  test("are silent while all is well, with two replicas, and report a gateway that does not count with them", async () => {
    await redis.start();
    const gateways = await Promise.all([start(sharedBy(redis)), start(sharedBy(redis))]);
    for (const gateway of gateways) await waitFor(async () => (await replicasOf(gateway)) === 2);
    const series = await Promise.all(gateways.map((gateway) => seriesOf(gateway, () => ask(gateway))));
    expect(differenceFrom([], series.flat())).toBe("");
    const alone = await start();
    const third = await seriesOf(alone, () => ask(alone));
    expect(differenceFrom(["ReplicasDoNotCountTogether"], [...series.flat(), ...third])).toBe("");
  });

  test("are silent in a brown-out, and page where other requests fail in it", async () => {
    const gateway = await start({ SUNSET_FILE: writeOperatorFile(BROWN_OUT) });
    expect(differenceFrom([], await seriesOf(gateway, () => ask(gateway)))).toBe("");
    v4.respondWith(json(200, "nonsense", { "x-oauth-scopes": "*" }));
    const use = async () => {
      await ask(gateway);
      await ask(gateway, "/vm/instances/5");
    };
    expect(differenceFrom(["GatewayFails"], await seriesOf(gateway, use))).toBe("");
  });

  test("report a receiver that takes no notices", async () => {
    const hook = "{ webhook: http://127.0.0.1:1/, secret: { env: HOOK_SECRET } }";
    const gateway = await start({
      SUNSET_FILE: writeOperatorFile(BROWN_OUT),
      NOTICES_FILE: writeOperatorFile(`receivers: { hook: ${hook} }`, "notices.yaml"),
      HOOK_SECRET: Buffer.alloc(32, "s").toString("base64"),
    });
    const act = (action: string) =>
      fetch(`${gateway.admin}/api/sunset/${action}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ by: "Ann" }),
      });
    const failing = async () =>
      (await scrape(gateway)).values.get("alpha_gateway_notices_receivers_failing") === 1;
    // What the first look sees is no news: the stage changes until a look has noticed it.
    await waitFor(async () => {
      await act("pause");
      await wait(1500);
      await act("resume");
      await wait(1500);
      return failing();
    });
    expect(differenceFrom(["NoticesAreNotSent"], await seriesOf(gateway, async () => {}))).toBe("");
  });

  test.each([
    ["the first difference of a route", '"different",reason=""', "_x50 1x10", ["AnswersDiffer"]],
    ["one of many differences", '"different",reason=""', "0+1x60", ["AnswersDiffer"]],
    ["no equal answers", '"equal",reason=""', "0+1x60", []],
    ["no old differences", '"different",reason=""', "5x60", []],
  ])("report %s", (_, labels, values, alerts) => {
    const series = `alpha_gateway_comparisons_total{source="candidate",route="GET /books",result=${labels}}`;
    expect(differenceFrom(alerts, [up("one", "1x60"), { series, values }])).toBe("");
  });

  test("page while a gateway can't be scraped, and while no gateway is known", () => {
    expect(differenceFrom(["GatewayIsGone"], [up("one", "1x60"), up("two", "1x57 0x3")])).toBe("");
    expect(differenceFrom(["GatewayIsGone"], [])).toBe("");
  });

  test("page while Redis is down", async () => {
    await redis.start();
    const gateway = await start(sharedBy(redis));
    await ask(gateway);
    await redis.stop();
    const isDown = async () => (await scrape(gateway)).values.get("alpha_gateway_state_store_up") === 0;
    await waitFor(isDown);
    expect(differenceFrom(["StoresAreDown"], await seriesOf(gateway, async () => {}))).toBe("");
  });

  test("page while the database is down", async () => {
    const gateway = await start({ DATABASE_URL: "postgres://gateway@127.0.0.1:1/audit" });
    const errors = async () => (await scrape(gateway)).values.get("alpha_gateway_audit_errors_total") ?? 0;
    const fail = async () => {
      const before = await errors();
      await waitFor(async () => (await errors()) > before);
    };
    expect(differenceFrom(["AuditFails", "StoresAreDown"], await seriesOf(gateway, fail))).toBe("");
  });

  test.each([
    ["the first failed commit", "0x59 3", ["AuditFails"]],
    ["no failed commits of a few minutes ago", "0+1x56 56x4", []],
  ])("report %s", (_, values, alerts) => {
    const errors = { series: 'alpha_gateway_audit_errors_total{instance="one"}', values };
    expect(differenceFrom(alerts, [up("one", "1x60"), errors])).toBe("");
  });

  test("report a rejected client directory", async () => {
    const file = writeOperatorFile("ann: { user_agents: [ann] }", "clients.yaml");
    const gateway = await start({ CLIENTS_FILE: file });
    writeFileSync(file, "ann: [");
    await waitFor(
      async () =>
        (await scrape(gateway)).values.get("alpha_gateway_clients_file_last_reload_successful") === 0,
    );
    expect(differenceFrom(["ClientsFileWasRejected"], await seriesOf(gateway, async () => {}))).toBe("");
  });

  test("are silent while clients get the translation, and page once a route has returned", async () => {
    const old = await startOldService();
    const gateway = await start({
      LEGACY_URL: old.url,
      ROLLOUT_FILE: writeOperatorFile("data: shared\nnew: all\ncompare: { share: 0% }", "rollout.yaml"),
    });
    expect(differenceFrom([], await seriesOf(gateway, () => ask(gateway)))).toBe("");
    await fetch(`${gateway.admin}/api/rollout/turn-back`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ by: "Ann", target: "GET /vm/instances" }),
    });
    expect(differenceFrom(["RolloutTurnedBack"], await seriesOf(gateway, () => ask(gateway)))).toBe("");
    await old.close();
  });

  test("page while a route should return to an old service that is down", async () => {
    const old = await startOldService();
    const gateway = await start({
      LEGACY_URL: old.url,
      ROLLOUT_FILE: writeOperatorFile(
        "data: shared\nnew: [{ routes: [GET /vm/instances] }]\ncompare: { share: 0% }",
        "rollout.yaml",
      ),
    });
    await old.close();
    await ask(gateway, "/vm/kernels", 2);
    v4.respondWith(json(200, "nonsense", { "x-oauth-scopes": "*" }));
    const series = await seriesOf(gateway, () => ask(gateway));
    expect(differenceFrom(["GatewayFails", "RolloutCanNotTurnBack"], series)).toBe("");
  });
});
