/**
 * The sandbox at the size of a large account: what a filtered page of its instances costs, and what it holds.
 *
 *     npm run bench:sandbox
 */
import { startSandbox } from "../src/sandbox/create-sandbox.ts";

const INSTANCES = 20_000;
const ROUNDS = 200;
const MEBI = 1024 * 1024;

const FILTERS = [
  {},
  { region: "us-east" },
  { "+or": [{ label: { "+contains": "web" } }, { tags: "prod" }], "+order_by": "label", "+order": "desc" },
  { label: "no-such-instance" },
];

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

const sandbox = await startSandbox({
  instances: INSTANCES,
  rateLimit: { limit: Number.MAX_SAFE_INTEGER, seconds: 120 },
});
const headers = { authorization: `Bearer ${sandbox.tokens.full}` };
globalThis.gc?.();
const resident = Math.round(process.memoryUsage.rss() / MEBI);
// After the reading above: a saved state is a copy of everything.
const objects = Object.values(sandbox.save().tables).reduce((sum, { rows }) => sum + rows.length, 0);
process.stdout.write(
  `${INSTANCES} instances, ${objects} objects, ${resident} MB resident\n\n` +
    "page of 100, ms        p50     p99  rows in all\n",
);

for (const filter of FILTERS) {
  const times: number[] = [];
  let results = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = performance.now();
    const response = await fetch(`${sandbox.url}/v4/vm/instances`, {
      headers: { ...headers, "x-filter": JSON.stringify(filter) },
    });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    ({ results } = (await response.json()) as { results: number });
    times.push(performance.now() - begun);
  }
  times.sort((one, other) => one - other);
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)].map((ms) => ms.toFixed(1).padStart(8));
  process.stdout.write(
    `${" ".repeat(18)}${p50}${p99}${String(results).padStart(13)}  ${JSON.stringify(filter)}\n`,
  );
}
await sandbox.close();
