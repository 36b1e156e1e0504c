/** What it costs a request to note which names of its route the client sent, and what was lost: microseconds, the median of rounds. */
import { NumberedNames } from "../src/audit/record/numbered-names.ts";
import { parseFilter } from "../src/pack/filters/parse-filter.ts";
import { parseQuery } from "../src/pack/paths/query.ts";
import { loadPack } from "../src/pack/load/load-pack.ts";
import { median } from "./report.ts";

const RUNS = 200_000;
const ROUNDS = 9;

const pack = loadPack("mappings");
const filter = (text: string) => parseFilter(text, pack.grammar);
const NOTHING = { query: undefined, filter: undefined, body: undefined };
const DATACENTERS = '{"+or":[{"id":"newark"},{"label":"a"}],"country":"us"}';

const CASES = [
  ["A read without a query", "GET /vm/instances/:id", NOTHING],
  ["A page of a list", "GET /vm/instances", { ...NOTHING, query: parseQuery("page=2") }],
  ["A filter of three fields", "GET /datacenters", { ...NOTHING, filter: filter(DATACENTERS) }],
  [
    "A create with six members",
    "POST /vm/instances",
    {
      ...NOTHING,
      body: {
        label: "a",
        group: "g",
        datacenter: "newark",
        type: "standard-1",
        distribution: "debian",
        root_pass: "x",
      },
    },
  ],
] as const;

/** @param note Notes the names of one request, and returns the number of its digits. */
function measure(name: string, note: () => number): void {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const startedAt = performance.now();
    let digits = 0;
    for (let run = 0; run < RUNS; run += 1) digits += note();
    if (digits < 0) throw new Error("nothing was measured");
    return ((performance.now() - startedAt) * 1000) / RUNS;
  });
  process.stdout.write(`${name.padEnd(26)} ${median(rounds).toFixed(2)} us\n`);
}

for (const [name, route, sent] of CASES) {
  const { names = [], bitsOf = () => undefined } = pack.sentNames.get(route) ?? {};
  measure(name, () => {
    const bits = bitsOf(sent);
    return bits ? (new NumberedNames(names, bits).text?.length ?? 0) : 0;
  });
}

const LOSSY_ROUTE = "GET /vm/instances";
for (const count of [1, 5]) {
  const { names = [], bitsOf = () => undefined } = pack.lossNames.get(LOSSY_ROUTE) ?? {};
  const texts = pack.route(LOSSY_ROUTE)?.losses.map(({ text }) => text) ?? [];
  const lost = new Set(texts.slice(0, count));
  measure(`A list with ${count} ${count === 1 ? "loss" : "losses"}`, () => {
    const bits = bitsOf(lost);
    return bits ? (new NumberedNames(names, bits).text?.length ?? 0) : 0;
  });
}
