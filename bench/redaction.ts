import { Redaction } from "../src/audit/redact/redact.ts";
import { loadPack } from "../src/pack/load/load-pack.ts";
import { startSandbox } from "../src/sandbox/create-sandbox.ts";
import { median } from "./report.ts";

/** What it costs to redact a body for its audit record, compared with parsing and printing the same body. */

interface Case {
  readonly name: string;
  readonly bodies: readonly Buffer[];
}

const VARIANTS = 16;
/** Bytes that each way handles in one round. */
const ROUND_BYTES = 2_000_000;
const PARTS = 6;
const WARM_UP = 4;
const BODY_LIMIT = 16_384;
const TOKEN = "0123456789abcdef0123456789abcdef";

/** Responses of the sandbox, each in several variants. */
async function prepare(): Promise<Case[]> {
  const sandbox = await startSandbox();
  const get = async (path: string): Promise<string> => {
    const headers = { authorization: `Bearer ${sandbox.tokens.full}` };
    return (await fetch(sandbox.url + path, { headers })).text();
  };
  const list = await get("/v4/vm/instances?page=1&page_size=25");
  const { data } = JSON.parse(list) as { readonly data: readonly { readonly id: number }[] };
  const [events, one] = [await get("/v4/account/events?page=1&page_size=25"), JSON.stringify(data[0])];
  await sandbox.close();
  const variantsOf = (text: string): Buffer[] =>
    Array.from({ length: VARIANTS }, (_, variant) =>
      Buffer.from(text.replaceAll(/"label":"/g, (label) => `${label}${variant}-`)),
    );
  return [
    { name: "List of 25", bodies: variantsOf(list) },
    { name: "One object", bodies: variantsOf(one) },
    { name: "List of events", bodies: variantsOf(events) },
    { name: "List, 1 secret", bodies: variantsOf(list.replace('"tags":', '"root_pass":"x1y2z3","tags":')) },
  ];
}

type Way = (body: Buffer) => unknown;

/** Microseconds of CPU for one body. */
function cost(way: Way, bodies: readonly Buffer[]): number {
  const runs = Math.ceil(ROUND_BYTES / PARTS / (bodies[0]?.length ?? 1));
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run += 1) way(bodies[run % bodies.length] as Buffer);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / runs;
}

const HEAD = `${"CPU us".padEnd(16)}${["bytes", "redacted", "parsed", "x parsed"].map((title) => title.padStart(12)).join("")}`;

/** The table: medians, and ratios of the same round, in which both ways alternate. */
export async function redactionReport(rounds: number): Promise<string> {
  const redaction = new Redaction({ names: loadPack("mappings").secretNames, bodyLimit: BODY_LIMIT });
  const values = redaction.search.find({ path: "/", isRoute: true, query: "", texts: [] }, [TOKEN]);
  const ways: readonly Way[] = [
    (body) => redaction.json(body, values),
    (body) => JSON.stringify(JSON.parse(body.toString())),
  ];
  const cases = await prepare();
  const costs = cases.map(() => [] as number[][]);
  for (let round = 0; round < rounds + WARM_UP; round += 1) {
    for (const [index, { bodies }] of cases.entries()) {
      const sums = ways.map(() => 0);
      for (let part = 0; part < PARTS; part += 1)
        for (const [at, way] of ways.entries()) sums[at] = (sums[at] ?? 0) + cost(way, bodies) / PARTS;
      if (round >= WARM_UP) costs[index]?.push(sums);
    }
  }
  const rows = cases.map(({ name, bodies }, index) => {
    const of = (pick: (sums: readonly number[]) => number): number => median((costs[index] ?? []).map(pick));
    const cells = [
      String(bodies[0]?.length),
      of(([redacted = 0]) => redacted).toFixed(1),
      of(([, parsed = 0]) => parsed).toFixed(1),
      of(([redacted = 0, parsed = 1]) => redacted / parsed).toFixed(2),
    ];
    return name.padEnd(16) + cells.map((cell) => cell.padStart(12)).join("");
  });
  return `${["Redaction of one body, and JSON.parse with JSON.stringify of the same body", HEAD, ...rows].join("\n")}\n`;
}
