import { MOST_VALUES } from "../../src/gateway/stages/read-body.ts";
import { mutate } from "../mutate.ts";
import type { Random } from "../random.ts";
import { LIMITS, type CostBench, type Cost, type MeasureOptions } from "./cost-bench.ts";
import { MOST_MB, MOST_MS } from "./section.ts";
import type { Candidate } from "./places.ts";
import type { Pump } from "./text.ts";

/** An input: a candidate, its own shape of growth, and the part of the limit that it fills. */
export interface Input {
  readonly candidate: Candidate;
  readonly pump: Pump;
  readonly part: number;
}

export interface Measured {
  readonly input: Input;
  readonly cost: Cost;
}

/** The worst of one route, or of one header. */
export interface Worst {
  readonly of: string;
  readonly time: Measured;
  readonly memory: Measured;
}

/** The worst candidate of similar rows by time, and by memory. */
const MOST_ALIKE = 3;

/** The size limit of an OAuth form, in bytes. */
const FORM_BYTES = 65_536;

/**
 * Sizes at which a shape costs most: just below the limits of bytes and of values, above which it is rejected early. That
 * rejection costs the same whatever the part of a body is, so only the whole body tries it.
 */
function parts({ where, pump: { unit } }: Candidate): number[] {
  if (where.includes("form")) return [(FORM_BYTES - 1) / LIMITS.body];
  const values = unit.match(/[,[{]/g)?.length ?? 0;
  if (!where.startsWith("body") || values === 0) return [1];
  const part = ((MOST_VALUES - 500) / values) * (unit.length + (unit.includes("#") ? 2 : 0));
  if (part >= LIMITS.body) return [1];
  return where === "body" ? [1, part / LIMITS.body] : [part / LIMITS.body];
}

/** Inputs of a row that the search continues with, by time and by memory. */
const MOST_KEPT = 3;

/** Inputs of a row that are measured again at the end, and how often. The minimum counts, since noise only adds. */
const LAST = 2;
const AGAIN = 2;

/** How often an input above the limit is measured again. The median counts. */
const ABOVE_BOUND = 5;

/** Prepares a bench for the next input, e.g. frees what the last one left. */
export type Before = () => void;

const DICTIONARY = [
  '"#":0,',
  "{},",
  "[],",
  '"",',
  "null,",
  "\\\\",
  "a=",
  ":",
  '"',
  "%25",
  " ",
  "-",
  "\\u0061",
  "1e300,",
  '{"id":#},',
];

/** Variants of a unit that stay valid JSON. */
const SHAPES: readonly ((unit: string, random: Random) => string)[] = [
  (unit) => unit.replaceAll("#", "#aaaaaaaa"),
  (unit, random) => unit.replaceAll('"', () => (random.below(2) === 0 ? '"' : '"a')),
  (unit, random) => unit + " ".repeat(1 + random.below(200)),
  (unit, random) => `${unit}${"a".repeat(random.below(100))}`,
  (unit) => unit + unit.slice(0, 200),
  (unit) => (unit.endsWith(",") ? `[${unit.slice(0, -1)}],` : `[${unit}]`),
  (unit) => (unit.endsWith(",") ? `{"a":${unit.slice(0, -1)}},` : `{${unit}}`),
  (unit, random) => unit.replaceAll(/\d+/g, String(10 ** random.below(20))),
  (unit, random) => `"${"#".padEnd(1 + random.below(60), "a")}":${unit}`,
];

function neighbour({ candidate, pump, part }: Input, units: readonly string[], random: Random): Input {
  const way = random.below(5);
  const text = { corpus: units, dictionary: DICTIONARY, longest: 2000 };
  const unit =
    way === 0
      ? random.pick(units)
      : way <= 2
        ? random.pick(SHAPES)(pump.unit, random)
        : way === 3
          ? mutate(pump.unit, random, text)
          : pump.unit;
  const before = random.below(6) === 0 ? mutate(pump.before, random, text) : pump.before;
  const size =
    way === 4 || random.below(3) === 0 ? Math.min(1, part * 2 ** (random.below(200) / 50 - 2)) : part;
  return { candidate, pump: { before, unit: unit || "a", after: pump.after }, part: size };
}

/** Measures the request of an input. */
export const measure = (
  bench: CostBench,
  { candidate, pump, part }: Input,
  how: MeasureOptions = {},
): Promise<Cost> =>
  bench.measure(candidate.request(pump), candidate.responses, {
    ...how,
    limits: { body: Math.ceil(LIMITS.body * part), head: Math.max(1000, Math.ceil(LIMITS.head * part)) },
  });

interface Row {
  readonly of: string;
  readonly units: string[];
  time: Measured[];
  memory: Measured[];
}

function keep(row: Row, measured: Measured): void {
  row.time = insert(row.time, measured, ({ ms }) => ms, MOST_KEPT);
  row.memory = insert(row.memory, measured, ({ mb }) => mb, MOST_KEPT);
}

export interface SearchOptions {
  /** Mutations that are tried for each row. */
  readonly runs: number;
  readonly random: Random;
  /** Runs before each of the last measurements. */
  readonly collect: () => void;
  readonly report: (text: string) => void;
}

/** Measures an input several times after a garbage collection, and picks one of the sorted costs. */
async function measureTimes(
  bench: CostBench,
  input: Input,
  { times, pick, collect }: { times: number; pick: number; collect: () => void },
): Promise<Measured> {
  const costs: Cost[] = [];
  for (let count = 0; count < times; count += 1) {
    collect();
    costs.push(await measure(bench, input, { settle: true }));
  }
  const [first] = costs;
  if (!first) throw new Error("nothing was measured");
  const nth = (by: (cost: Cost) => number): number =>
    costs.map(by).sort((one, other) => one - other)[pick] ?? 0;
  return { input, cost: { response: first.response, ms: nth(({ ms }) => ms), mb: nth(({ mb }) => mb) } };
}

/** Measures an input again without other work, and more often if it seems to be above the limit. */
async function measureAgain(bench: CostBench, input: Input, collect: () => void): Promise<Measured> {
  const found = await measureTimes(bench, input, { times: AGAIN, pick: 0, collect });
  if (found.cost.ms <= MOST_MS && found.cost.mb <= MOST_MB) return found;
  return measureTimes(bench, input, { times: ABOVE_BOUND, pick: Math.floor(ABOVE_BOUND / 2), collect });
}

const insert = (list: readonly Measured[], measured: Measured, by: (cost: Cost) => number, most: number) =>
  [...list, measured].sort((one, other) => by(other.cost) - by(one.cost)).slice(0, most);

/** The part of a request that a candidate makes grow. */
const partOf = ({ of, where }: Candidate): string => `${of} ${where}`;

/** The worst shapes of parts that are parsed alike. The first part of each kind tries all shapes. */
class Alike {
  readonly #found = new Map<string, { readonly part: string; time: Measured[]; memory: Measured[] }>();

  /** Whether another part has tried all shapes, and this one is not among its worst. */
  skips(candidate: Candidate): boolean {
    const {
      like,
      pump: { before, unit, after },
    } = candidate;
    const found = like === undefined ? undefined : this.#found.get(like);
    if (!found || found.part === partOf(candidate)) return false;
    return ![...found.time, ...found.memory].some(
      ({ input: { pump } }) => pump.unit === unit && pump.before === before && pump.after === after,
    );
  }

  add(measured: Measured): void {
    const { candidate } = measured.input;
    const { like } = candidate;
    if (like === undefined) return;
    const found = this.#found.get(like) ?? { part: partOf(candidate), time: [], memory: [] };
    this.#found.set(like, found);
    if (found.part !== partOf(candidate)) return;
    found.time = insert(found.time, measured, ({ ms }) => ms, MOST_ALIKE);
    found.memory = insert(found.memory, measured, ({ mb }) => mb, MOST_ALIKE);
  }
}

/**
 * Finds the most expensive request of every row: first it tries all shapes just below the limits, then mutations of the
 * most expensive ones.
 */
export async function search(
  bench: CostBench,
  candidates: readonly Candidate[],
  { runs, random, collect, report }: SearchOptions,
): Promise<Worst[]> {
  const rows = new Map<string, Row>();
  const alike = new Alike();
  for (const [index, candidate] of candidates.entries()) {
    const { of, pump } = candidate;
    if (index % 500 === 0)
      report(
        `${index} of ${candidates.length} shapes, at ${of} ${(process.cpuUsage().user / 1e6).toFixed(0)} s`,
      );
    const row = rows.get(of) ?? { of, units: [], time: [], memory: [] };
    rows.set(of, row);
    row.units.push(pump.unit);
    if (alike.skips(candidate)) continue;
    for (const part of parts(candidate)) {
      const input = { candidate, pump, part };
      const measured = { input, cost: await measure(bench, input) };
      keep(row, measured);
      alike.add(measured);
    }
  }
  const worst: Worst[] = [];
  for (const row of rows.values()) {
    for (let count = 0; count < runs; count += 1) {
      const { input } = random.pick([...row.time, ...row.memory]);
      const next = neighbour(input, row.units, random);
      keep(row, { input: next, cost: await measure(bench, next) });
    }
    const inputs = [...row.time.slice(0, LAST), ...row.memory.slice(0, LAST)].map(({ input }) => input);
    const last: Measured[] = [];
    for (const input of new Set(inputs)) last.push(await measureAgain(bench, input, collect));
    const most = (by: (cost: Cost) => number): Measured => {
      const [first] = last.sort((one, other) => by(other.cost) - by(one.cost));
      if (!first) throw new Error(`${row.of} has no inputs`);
      return first;
    };
    const found = { of: row.of, time: most(({ ms }) => ms), memory: most(({ mb }) => mb) };
    worst.push(found);
    report(`${row.of}: ${found.time.cost.ms.toFixed(1)} ms, ${found.memory.cost.mb.toFixed(1)} MB`);
  }
  return worst;
}
