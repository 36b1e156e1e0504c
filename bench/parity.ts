/**
 * Whether the comparison of two services finds mistakes, and nothing else.
 *
 *     npm run bench:parity
 *
 * 1. Fifty mistakes are seeded into the pack, one at a time, ten of them in fields that have another value each time.
 * 2. The pack is compared with itself, behind a service with times, counters, a random order and rounding.
 * 3. A gateway serves 200 requests a second beside one that compares none, in front of old services that are not well.
 * 7. Routes are simulated that differ at the tolerated rate.
 *
 * Exits with 1 if a goal is missed. `PARITY_REQUESTS` is the number of requests of the second part, 100000 by default.
 */
import { FAULTS, VOLATILE_FAULTS, type Fault } from "./parity/faults.ts";
import { compareNoise } from "./parity/noisy-service.ts";
import { measureLiveCosts } from "./parity/live-cost.ts";
import { startLoader } from "./loader.ts";
import { seedFault, type FaultResult } from "./parity/seeded-faults.ts";
import { createV4, readFiles } from "./parity/services.ts";
import { simulateTrips } from "./parity/simulated-routes.ts";
import { required } from "../src/parity/statistics.ts";

const MOST_REQUESTS = 1000;
const GOAL = 39;
const VOLATILE_GOAL = 8;
/** What goes wrong goes wrong while little is known: the requests are those of several services. */
const NOISE_RUNS = 10;
const NOISE_REQUESTS = Number(process.env["PARITY_REQUESTS"] ?? 100_000);

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

await seedFaults("1. Mistakes in fields that have the same value each time", FAULTS, GOAL);
await seedFaults("1. Mistakes in fields that have another value each time", VOLATILE_FAULTS, VOLATILE_GOAL);
await compareWithNoise("2. No mistake, behind an old service that differs from itself", false);
await compareWithNoise("2. The same, while another program writes 50 times a second", true);

print("3. What 20 comparisons a second add to 200 requests a second: all that the translation answers");
print("  old service     p99, ms   CPU, %   memory, MB");
const loader = startLoader();
for (const { oldService, p99, cpu, memory } of await measureLiveCosts(loader)) {
  const cells = [
    p99.toFixed(2).padStart(9),
    cpu.toFixed(1).padStart(9),
    (memory / 1024 ** 2).toFixed(0).padStart(12),
  ];
  print(`  ${oldService.padEnd(14)}${cells.join("")}`);
  if (p99 > 1) misses.push(`old service ${oldService}: p99 ${p99.toFixed(2)} ms more, at most 1`);
  if (memory > 64 * 1024 ** 2) misses.push(`old service ${oldService}: more than 64 MB`);
  if (cpu > 1 && oldService !== "queue full") misses.push(`old service ${oldService}: more than 1 % CPU`);
}
loader.stop();

print("7. Comparisons that are enough for a rate, with 0, 1, 2 and 3 differences");
for (const rate of [0.01, 0.005, 0.001])
  print(
    `  ${(rate * 100).toFixed(1).padStart(5)} %${[0, 1, 2, 3].map((k) => String(required(rate, k)).padStart(7)).join("")}`,
  );
const trips = simulateTrips(10_000, 10_000_000);
check(trips <= 1, `${trips} trips of 10000 routes at the tolerated rate in 10000000 comparisons, at most 1`);

for (const miss of misses) print(`missed: ${miss}`);
process.exitCode = misses.length > 0 ? 1 : 0;
