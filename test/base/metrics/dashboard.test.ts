/** What operators look at is held against the figures that a real gateway gives: names, labels, and the alerts' page. */
import { existsSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { SETTINGS } from "../../../src/base/settings/setting-definitions.ts";
import { environmentOf, parseDockerfile } from "../../support/dockerfile.ts";
import { RECORDING, startGateway, type Gateway } from "../../support/gateway.ts";
import { copyPack } from "../../support/pack-copy.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { waitFor } from "../../support/wait-for.ts";

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

const { panels } = JSON.parse(readFileSync("deploy/grafana/alpha-gateway.json", "utf8")) as Dashboard;
const rules = (parse(readFileSync("deploy/prometheus/alerts.yaml", "utf8")) as Rules).groups.flatMap(
  (group) => group.rules,
);

const queries: [string, string][] = [
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }): [string, string] => [title, expr])),
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
];

let gateway: Gateway;
const candidate = copyPack();
/** Labels of each series by its name. */
let series: Map<string, Set<string>>;

beforeAll(async () => {
  const plan = writeOperatorFile(
    "announced: 2026-01-01\nstages:\n  - end: 2026-01-02\n    routes: [GET /vm/kernels]\n",
  );
  const clients = writeOperatorFile('probe:\n  user_agents: ["*probe*"]\n');
  const notices = writeOperatorFile("{}", "notices.yaml");
  candidate.says("candidate");
  gateway = await startGateway({
    ...RECORDING,
    RATE_LIMIT: "8/900",
    SUNSET_FILE: plan,
    CLIENTS_FILE: clients,
    NOTICES_FILE: notices,
    CANDIDATE_MAPPINGS_DIR: candidate.folder,
    CANDIDATE_RATE: "1000",
    LEGACY_URL: "http://127.0.0.1:1",
    ROLLOUT_FILE: writeOperatorFile("data: shared\nnew: all", "rollout.yaml"),
  });
  await gateway.reload();
  await gateway.request("GET /vm/kernels");
  for (let n = 0; n < 4; n += 1) await gateway.request("GET /vm/instances");
  await gateway.request("GET /datacenters", { as: null });
  const { body } = await gateway.request("GET /vm/instances");
  await gateway.request(`GET /vm/instances/${body.vms[0].id}`);
  for (let n = 0; n < 6; n += 1) await gateway.request("GET /vm/instances");
  await gateway.requestAdmin("POST /api/rollout/turn-back", { body: { by: "Ann", target: "all" } });
  const readMetrics = async (): Promise<string> => (await gateway.requestAdmin("GET /metrics")).text;
  await waitFor(async () => (await readMetrics()).includes("alpha_gateway_comparisons_total{"));
  const text = await readMetrics();
  // Prometheus' own.
  series = new Map([["up", new Set<string>()]]);
  for (const [, name = "", labels = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const all = series.get(name) ?? new Set();
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) all.add(label);
    series.set(name, all);
  }
}, 60_000);

const NAME = /\b((?:alpha_gateway|process|nodejs)_\w+|up)\b(?:\{([^}]*)\})?/g;
/** Prometheus' own. */
const SCRAPED = ["instance", "job"];

/** The queries, by their titles, that have something wrong. */
const wrongQueries = (faultsOf: (query: string) => readonly unknown[]): unknown[] =>
  queries.flatMap(([title, query]) => {
    const faults = faultsOf(query);
    return faults.length > 0 ? [[title, ...faults]] : [];
  });

const metricsOf = (query: string) => [...query.matchAll(NAME)];

test("all queries use existing metrics", () => {
  expect(queries.filter(([, query]) => metricsOf(query).length === 0)).toEqual([]);
  const unknown = (query: string) =>
    metricsOf(query).flatMap(([, name = ""]) => (series.has(name) ? [] : [name]));
  expect(wrongQueries(unknown)).toEqual([]);
});

test("all queries use existing labels", () => {
  const unknown = (query: string) => {
    const named = metricsOf(query);
    const labels = new Set([...SCRAPED, ...named.flatMap(([, name = ""]) => [...(series.get(name) ?? [])])]);
    const narrowed = named.flatMap(([, , by = ""]) => [...by.matchAll(/(\w+)(?:=|!=|=~)"/g)]);
    const grouped = [...query.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, by = ""]) => by.split(/, */));
    return [...narrowed.map(([, label = ""]) => label), ...grouped].filter((label) => !labels.has(label));
  };
  expect(wrongQueries(unknown)).toEqual([]);
});

test("all queries have balanced brackets", () => {
  const count = (query: string, sign: string) => query.split(sign).length;
  const unbalanced = (query: string) =>
    ["()", "{}", "[]"].filter(([open = "", close = ""]) => count(query, open) !== count(query, close));
  expect(wrongQueries(unbalanced)).toEqual([]);
});

test("the dashboard shows every metric of requests, with unique panel ids", () => {
  const displayed = queries.map(([, query]) => query).join("\n");
  const gatewayMetrics = [...series.keys()].filter((name) =>
    /^alpha_gateway_.*_(?:total|bucket)$/.test(name),
  );
  expect(gatewayMetrics.filter((name) => !displayed.includes(name))).toEqual([]);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
});

describe("deploy/prometheus/prometheus.yaml", () => {
  interface Scrape {
    readonly metrics_path: string;
    readonly authorization: { readonly type: string; readonly credentials_file: string };
    readonly static_configs: readonly { readonly targets: readonly string[] }[];
  }
  const { rule_files: ruleFiles, scrape_configs: scrapes } = parse(
    readFileSync("deploy/prometheus/prometheus.yaml", "utf8"),
  ) as { rule_files: readonly string[]; scrape_configs: readonly Scrape[] };
  const [scrape] = scrapes as readonly [Scrape];

  test("loads the alert rules of the repository", () => {
    expect(ruleFiles.map((name) => existsSync(`deploy/prometheus/${name}`))).toEqual([true]);
  });

  test("scrapes the admin listener of each gateway in compose.yaml", () => {
    const { services } = parse(readFileSync("compose.yaml", "utf8"), { merge: true }) as {
      services: Record<string, { environment?: Record<string, string> }>;
    };
    const image = environmentOf(parseDockerfile(readFileSync("Dockerfile", "utf8")).at(-1)!);
    const admin = Object.entries(services).flatMap(([name, { environment = {} }]) =>
      "ADMIN_TOKEN" in environment
        ? [`${name}:${environment["ADMIN_PORT"] ?? image["ADMIN_PORT"] ?? SETTINGS.ADMIN_PORT.default}`]
        : [],
    );
    expect(admin).toHaveLength(2);
    expect(scrapes.flatMap((each) => each.static_configs.flatMap(({ targets }) => targets))).toEqual(admin);
  });

  describe("with a gateway that has an admin token", () => {
    let closed: Gateway;
    beforeAll(async () => {
      closed = await startGateway({ ADMIN_TOKEN: "the-operators-own" });
    });

    test("sends the token", async () => {
      const call = `GET ${scrape.metrics_path}`;
      const authorization = `${scrape.authorization.type} the-operators-own`;
      const [without, response] = [
        await closed.requestAdmin(call),
        await closed.requestAdmin(call, { headers: { authorization } }),
      ];
      expect([without.status, response.status]).toEqual([401, 200]);
      expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=/);
      expect(response.text).toContain("alpha_gateway_");
    });
  });
});

test("route labels come from the pack, never from a client's path", async () => {
  await gateway.request("GET /vm/instances/987654321/nowhere/s3cret");
  const text = (await gateway.requestAdmin("GET /metrics")).text;
  expect(text).not.toMatch(/987654321|s3cret/);
  expect(text).toContain('stage="build_response"} ');
  expect(text).toMatch(
    /alpha_gateway_route_stage_seconds_total\{route="GET \/vm\/instances\/:id",stage="upstream"\} /,
  );
  expect(text).toMatch(/alpha_gateway_cache_reads_total\{cache="catalogs",result="hit"\} 1$/m);
  expect(text).toMatch(/alpha_gateway_refusals_total\{reason="limit",status="\d+"\} [1-9]/);
});
