/** What it costs a request to note which names of its route the client sent: microseconds, the median of rounds. */
import { SentMembers } from "../src/audit/sent-members.ts";
import { parseFilter } from "../src/dialect/filter/parse-filter.ts";
import { parseQuery } from "../src/dialect/query.ts";
import { loadPack } from "../src/mapping/load/load-pack.ts";
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

for (const [name, route, sent] of CASES) {
  const { names = [], bitsOf = () => undefined } = pack.sentNames.get(route) ?? {};
  const rounds = Array.from({ length: ROUNDS }, () => {
    const startedAt = performance.now();
    let digits = 0;
    for (let run = 0; run < RUNS; run += 1) {
      const bits = bitsOf(sent);
      if (bits) digits += new SentMembers(pack.hash, names, bits).bits.length;
    }
    if (digits < 0) throw new Error("nothing was measured");
    return ((performance.now() - startedAt) * 1000) / RUNS;
  });
  process.stdout.write(`${name.padEnd(26)} ${median(rounds).toFixed(2)} us\n`);
}
