import { isDeepStrictEqual } from "node:util";
import { translateList, translateObject } from "../src/gateway/calls/translate-response.ts";
import type { UpstreamResponse } from "../src/gateway/calls/upstream-response.ts";
import { runInterpreted } from "../src/jsonata/compiler/compile.ts";
import { loadPack } from "../src/pack/load/load-pack.ts";
import type { Pack } from "../src/pack/load/pack.ts";
import { startSandbox } from "../src/sandbox/create-sandbox.ts";
import { connectCatalogs, type CatalogCache } from "../src/gateway/upstream/catalog-cache.ts";
import { listByHand, objectByHand, type KnownCatalogs } from "./by-hand.ts";
import { median } from "./report.ts";

/** Measures translation alone: from the bytes of v4's response to the bytes of alpha's, without the pipeline. */

type Translate = (bytes: Buffer) => Promise<Buffer> | Buffer;

interface Case {
  readonly name: string;
  /** Bodies of v4, used one after the other, so that no cache of the last one can help. */
  readonly bodies: readonly Buffer[];
  readonly ways: Readonly<Record<"compiled" | "interpreted" | "by hand", Translate>>;
}

const VARIANTS = 32;
/** Runs of one way in one round. The interpreter would take all day. */
const RUNS = { compiled: 600, interpreted: 24, "by hand": 600 } as const;

type Json = Record<string, unknown>;

const STATUSES = ["running", "offline", "booting", "rebuilding"];

/** The same row at another time, and with other settings. */
const changed = (row: Json, variant: number): Json => ({
  ...row,
  id: Number(row["id"]) + variant,
  label: `${String(row["label"])}-${variant}`,
  status: STATUSES[variant % STATUSES.length],
  updated: `2026-03-01T10:00:${String(variant % 60).padStart(2, "0")}`,
  ipv6: `2001:db8::f03c:92ff:fe${variant.toString(16).padStart(2, "0")}:1/128`,
  alerts: {
    cpu: variant % 100,
    network_in: 10,
    network_out: variant,
    transfer_quota: 80,
    io: 10_000 + variant,
  },
});

function throughPack(pack: Pack, catalogs: CatalogCache, routeName: string): Translate {
  const route = pack.route(routeName);
  if (!route) throw new Error(`the pack has no ${routeName}`);
  const reading = { catalogs, calls: {} };
  const translate = route.kind === "list" ? translateList : translateObject;
  return async (bytes) => {
    const response: UpstreamResponse = {
      status: 200,
      success: true,
      headers: {},
      bytes,
      json: undefined,
    };
    const translated = await translate(response, route, reading);
    return typeof translated === "string" ? Buffer.from(translated) : translated;
  };
}

/** The same row with values that no catalog has, as on old accounts. */
const retired = (row: Json): Json => ({
  ...row,
  region: `${String(row["region"])}-closed`,
  image: `${String(row["image"])}-retired`,
  type: `${String(row["type"])}-retired`,
});

/** Alpha objects of unknown values, as the pack describes them. */
const unknownCatalogs = (rows: readonly Json[]): KnownCatalogs => {
  const byName = (name: string, object: (id: string, row: Json) => Json) =>
    new Map(rows.map((row) => [String(row[name]), object(String(row[name]), row)]));
  return {
    datacenter: byName("region", (id) => ({ id, label: id, country: "" })),
    distribution: byName("image", (id) => ({
      id,
      label: id,
      created: null,
      minimum_storage_size: 0,
      recommended: false,
      vendor: "",
      x64: true,
    })),
    type: byName("type", (id, { specs }) => {
      const { memory, disk, transfer, vcpus } = specs as Json;
      return {
        id,
        label: id,
        class: "",
        service_type: "vm",
        ram: memory,
        disk,
        storage: disk,
        transfer,
        vcpus,
        mbits_out: 0,
        hourly_price: 0,
        monthly_price: 0,
        backups_price: 0,
      };
    }),
  };
};

const byIds = (catalogs: CatalogCache, name: string, ids: Iterable<unknown>): ReadonlyMap<string, unknown> =>
  new Map([...ids].map((id) => [String(id), catalogs.find(name, String(id))?.object]));

/** The measured cases, with bodies from the sandbox. */
async function prepare(): Promise<Case[]> {
  const sandbox = await startSandbox();
  const call = async ({ path }: { readonly path: string }) => {
    const headers = { authorization: `Bearer ${sandbox.tokens.full}` };
    const response = await fetch(sandbox.url + path, { headers });
    return { status: response.status, headers: {}, bytes: Buffer.from(await response.arrayBuffer()), ms: 0 };
  };
  const pack = loadPack("mappings");
  const interpreted = runInterpreted(() => loadPack("mappings"));
  const upstream = { call, close: () => Promise.resolve() };
  const catalogs = connectCatalogs(pack, upstream, 3600, () => undefined);
  await catalogs.refresh();
  catalogs.stop();
  const list = JSON.parse(
    (await call({ path: "/v4/vm/instances?page=1&page_size=25" })).bytes.toString(),
  ) as Json;
  await sandbox.close();
  const rows = list["data"] as Json[];
  const knownCatalogs: KnownCatalogs = {
    datacenter: byIds(
      catalogs,
      "datacenter",
      rows.map((row) => row["region"]),
    ),
    distribution: byIds(
      catalogs,
      "distribution",
      rows.map((row) => row["image"]),
    ),
    type: byIds(
      catalogs,
      "type",
      rows.map((row) => row["type"]),
    ),
  };
  const variants = [...Array(VARIANTS).keys()];
  const listsOf = (source: readonly Json[]) =>
    variants.map((variant) => ({
      ...list,
      data: source.map((row, at) => changed(row, variant + at)),
    }));
  const retiredRows = rows.map(retired);
  const cases = [
    {
      name: "List of 25",
      route: "GET /vm/instances",
      hand: listByHand,
      knownCatalogs,
      bodies: listsOf(rows),
    },
    {
      name: "Unknown values",
      route: "GET /vm/instances",
      hand: listByHand,
      knownCatalogs: unknownCatalogs(retiredRows),
      bodies: listsOf(retiredRows),
    },
    {
      name: "One object",
      route: "GET /vm/instances/:id",
      hand: objectByHand,
      knownCatalogs,
      bodies: variants.map((variant) => changed(rows[variant % rows.length] ?? {}, variant)),
    },
  ];
  return cases.map(({ name, route, hand, knownCatalogs: catalogsByHand, bodies }) => ({
    name,
    bodies: bodies.map((body) => Buffer.from(JSON.stringify(body))),
    ways: {
      compiled: throughPack(pack, catalogs, route),
      interpreted: throughPack(interpreted, catalogs, route),
      "by hand": (bytes) => Buffer.from(hand(bytes.toString(), catalogsByHand)),
    },
  }));
}

/** All ways must have the same result. They are compared after the measurement, so that V8 sees no other case before. */
async function compareResults({ name, bodies, ways }: Case): Promise<void> {
  for (const body of bodies) {
    const [compiled, interpreted, hand] = await Promise.all(
      [ways.compiled, ways.interpreted, ways["by hand"]].map(
        async (way) => JSON.parse((await way(body)).toString()) as unknown,
      ),
    );
    if (!isDeepStrictEqual(compiled, interpreted) || !isDeepStrictEqual(compiled, hand))
      throw new Error(`${name}: the ways differ`);
  }
}

/** Microseconds of CPU that one run takes. */
async function cost(way: Translate, bodies: readonly Buffer[], runs: number): Promise<number> {
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run += 1) await way(bodies[run % bodies.length] as Buffer);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / runs;
}

type Costs = Readonly<Record<keyof typeof RUNS, number>>;

/** Rounds of each way before it is measured, for the compiler to settle. */
const WARM_UP = 4;

/** Parts of a round, in which the ways alternate. */
const PARTS = 12;

/** One round in short parts, so that other load on the machine affects both ways. */
async function synchronousRound({ bodies, ways }: Case): Promise<Omit<Costs, "interpreted">> {
  const costs = { compiled: 0, "by hand": 0 };
  for (let part = 0; part < PARTS; part += 1)
    for (const way of ["compiled", "by hand"] as const)
      costs[way] += (await cost(ways[way], bodies, RUNS[way] / PARTS)) / PARTS;
  return costs;
}

/** The interpreter runs last: its promises would make V8 compile the functions for cases that they never get otherwise. */
async function measure(measured: Case, rounds: number): Promise<Costs[]> {
  const synchronous: Omit<Costs, "interpreted">[] = [];
  for (let round = 0; round < rounds + WARM_UP; round += 1)
    synchronous.push(await synchronousRound(measured));
  const { bodies, ways } = measured;
  const costs: Costs[] = [];
  for (const each of synchronous.slice(WARM_UP))
    costs.push({ ...each, interpreted: await cost(ways.interpreted, bodies, RUNS.interpreted) });
  return costs;
}

function row(name: string, rounds: readonly Costs[]): string {
  const of = (pick: (costs: Costs) => number): number => median(rounds.map(pick));
  const cells = [
    of((costs) => costs.compiled).toFixed(1),
    of((costs) => costs["by hand"]).toFixed(1),
    of((costs) => costs.interpreted).toFixed(0),
    of((costs) => costs.compiled / costs["by hand"]).toFixed(2),
    `1/${of((costs) => costs.interpreted / costs.compiled).toFixed(0)}`,
  ];
  return name.padEnd(16) + cells.map((cell) => cell.padStart(14)).join("");
}

const HEAD = `${"CPU us".padEnd(16)}${["compiled", "by hand", "interpreted", "x by hand", "x interpreted"].map((title) => title.padStart(14)).join("")}`;

/** The table: medians, and ratios of the same round. */
export async function translationReport(rounds: number): Promise<string> {
  const lines = ["Translation alone, from v4's bytes to alpha's", HEAD];
  for (const each of await prepare()) {
    lines.push(row(each.name, await measure(each, rounds)));
    await compareResults(each);
  }
  return `${lines.join("\n")}\n`;
}
