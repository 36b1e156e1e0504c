/**
 * Whether the comparison of two services finds mistakes, and nothing else.
 *
 *     npm run bench:parity
 *     npm run bench:parity -- 3 5
 *
 * 1. Fifty mistakes are seeded into the pack, one at a time, ten of them in fields that have another value each time.
 * 2. The pack is compared with itself, behind a service with times, counters, a random order and rounding.
 * 3. A gateway serves 200 requests a second, comparing and not comparing, in front of old services that are not well.
 * 5. A mistake is seeded into the pack of three gateways with one Redis: its route returns on each of them.
 * 6. Differences of three gateways add up, and a share of 1000 clients has the same ones on each of them.
 * 7. Routes are simulated that differ at the tolerated rate.
 *
 * That no comparison sends a write is part 4: each old service of the tests checks its log (`test/support/old-service.ts`).
 *
 * Arguments are the parts that run. Exits with 1 if a goal is missed. `PARITY_REQUESTS` is the number of requests of the
 * second part, 100000 by default; `PARITY_ROUNDS` and `PARITY_ROUND_MS` are the rounds of the third, 11 pairs of 8 seconds (31 minutes).
 */
import { FAULTS, VOLATILE_FAULTS, type Fault } from "./parity/faults.ts";
import { compareNoise } from "./parity/noisy-service.ts";
import { GOALS, measureLiveCosts, missesOf } from "./parity/live-cost.ts";
import { seedFault, type FaultResult } from "./parity/seeded-faults.ts";
import { measureThreeGateways, type ThreeGateways } from "./parity/three-gateways.ts";
import { createV4, readFiles } from "./parity/services.ts";
import { simulateTrips } from "./parity/simulated-routes.ts";
import { required } from "../src/compare/counts/statistics.ts";

const MOST_REQUESTS = 1000;
const GOAL = 39;
const VOLATILE_GOAL = 8;
/** What goes wrong goes wrong while little is known: the requests are those of several services. */
const NOISE_RUNS = 10;
const NOISE_REQUESTS = Number(process.env["PARITY_REQUESTS"] ?? 100_000);

const parts = new Set(process.argv.slice(2));
const runs = (part: string): boolean => parts.size === 0 || parts.has(part);
const files = readFiles();
const misses: string[] = [];

const print = (line: string): void => void process.stdout.write(`${line}\n`);

function check(isMet: boolean, goal: string): void {
  print(`  ${isMet ? "met" : "MISSED"}: ${goal}\n`);
  if (!isMet) misses.push(goal);
}

async function seedFaults(title: string, faults: readonly Fault[], goal: number): Promise<void> {
  print(title);
  print("  requests  mistake                             found as");
  const v4 = createV4();
  const results: FaultResult[] = [];
  for (const fault of faults) {
    const result = await seedFault(fault, files, MOST_REQUESTS, v4);
    results.push(result);
    const requests = String(result.requests ?? "none").padStart(10);
    print(`${requests}  ${fault.name.padEnd(34)}  ${result.found.join(", ")}`);
  }
  const confirmed = results.filter(({ requests }) => requests !== undefined).length;
  check(
    confirmed >= goal,
    `${confirmed} of ${faults.length} confirmed within ${MOST_REQUESTS} requests, at least ${goal}`,
  );
}

async function compareWithNoise(title: string, hasWriter: boolean): Promise<void> {
  print(title);
  const counts: Record<string, number> = {};
  let [trips, stateBytes] = [0, 0];
  for (let seed = 1; seed <= NOISE_RUNS; seed += 1) {
    const run = await compareNoise(files, Math.ceil(NOISE_REQUESTS / NOISE_RUNS), hasWriter, seed);
    for (const [result, count] of Object.entries(run.counts)) counts[result] = (counts[result] ?? 0) + count;
    for (const each of run.different) print(`  ${each}`);
    trips += run.trips;
    stateBytes = Math.max(stateBytes, run.stateBytes);
  }
  for (const [result, count] of Object.entries(counts)) print(`  ${String(count).padStart(8)}  ${result}`);
  print(`  ${String(stateBytes).padStart(8)}  bytes of state`);
  const { different = 0 } = counts;
  check(different === 0, `${different} of ${NOISE_REQUESTS} requests different, with ${NOISE_RUNS} seeds`);
  check(trips === 0, `${trips} trips`);
}

async function compareCosts(): Promise<void> {
  print("3. What 20 comparisons a second add to 200 requests a second: all that the translation answers");
  print("  old service      p99, ms   more   CPU, %   memory, MB");
  await measureLiveCosts((cost) => {
    print(
      `  ${cost.oldService.padEnd(14)}${cost.plainP99.toFixed(2).padStart(10)}${cost.p99.toFixed(2).padStart(7)}` +
        (cost.cpu?.toFixed(2) ?? "").padStart(9) +
        (cost.memory / 1024 ** 2).toFixed(0).padStart(13),
    );
    misses.push(...missesOf(cost));
  });
  print(`  goals: ${GOALS}\n`);
}

function printReturn({ ms, requests, failed, differences, isKept }: ThreeGateways): void {
  print("5. A mistake in the pack of three gateways with one Redis");
  print(`  confirmed differences of each when there were four: ${differences.join(", ")}`);
  print(`  ms from then to the old service's answer: ${ms.map((each) => each.toFixed(0)).join(", ")}`);
  const slowest = Math.max(...ms);
  check(slowest <= 5000, `returned after ${slowest.toFixed(0)} ms on each gateway, at most 5000`);
  check(failed === 0, `${failed} of ${requests} requests failed`);
  check(isKept, "the return is kept over a restart of all gateways");
}

function printTogether({ ms, differences, clients }: ThreeGateways): void {
  print("6. Three gateways together");
  const slowest = Math.max(...ms);
  check(
    Math.max(...differences) < 4 && slowest <= 1000,
    `differences of ${differences.join(" + ")} add up in ${slowest.toFixed(0)} ms, at most 1000`,
  );
  const [tenth = [], , fifth = []] = clients.map(([names]) => names);
  print(
    `  of 1000 clients at 10 %, after a restart, and at 20 %: ${clients.map(([names]) => names?.length).join(", ")}`,
  );
  check(tenth.length >= 70 && tenth.length <= 130, `${tenth.length} of 1000 clients at 10 %, 70 to 130`);
  const [ten = [], again = [], twenty = []] = clients.map((replicas) =>
    replicas.map((names) => names.join(" ")),
  );
  check(new Set([...ten, ...again]).size === 1, "the same ones on each gateway, and after a restart");
  check(
    new Set(twenty).size === 1 && new Set(tenth).isSubsetOf(new Set(fifth)),
    `all of them among the ${fifth.length} at 20 %`,
  );
}

function simulateRoutes(): void {
  print("7. Comparisons that are enough for a rate, with 0, 1, 2 and 3 differences");
  for (const rate of [0.01, 0.005, 0.001])
    print(
      `  ${(rate * 100).toFixed(1).padStart(5)} %${[0, 1, 2, 3].map((k) => String(required(rate, k)).padStart(7)).join("")}`,
    );
  const trips = simulateTrips(10_000, 10_000_000);
  check(
    trips <= 1,
    `${trips} trips of 10000 routes at the tolerated rate in 10000000 comparisons, at most 1`,
  );
}

if (runs("1")) {
  await seedFaults("1. Mistakes in fields that have the same value each time", FAULTS, GOAL);
  await seedFaults("1. Mistakes in fields that have another value each time", VOLATILE_FAULTS, VOLATILE_GOAL);
}
if (runs("2")) {
  await compareWithNoise("2. No mistake, behind an old service that differs from itself", false);
  await compareWithNoise("2. The same, while another program writes 50 times a second", true);
}
if (runs("3")) await compareCosts();
if (runs("5") || runs("6")) {
  const three = await measureThreeGateways();
  printReturn(three);
  printTogether(three);
}
if (runs("7")) simulateRoutes();

for (const miss of misses) print(`missed: ${miss}`);
process.exitCode = misses.length > 0 ? 1 : 0;
