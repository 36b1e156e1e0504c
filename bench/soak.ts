/** Mixed load for a long time: does anything grow that shouldn't, and does every request get the expected response? */
import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { processCost } from "./process-cost.ts";
import { openClients, type Clients } from "./soak/clients.ts";
import { heapOf } from "./soak/heap.ts";
import { runOperations, openTally, type Tally } from "./soak/run-operations.ts";
import { operate } from "./soak/operator.ts";
import { figures, HEAD, measurements, page, row, verdict, type Run } from "./soak/page.ts";
import { startEnvironment, tokenSecondsOf, type SoakEnvironment } from "./soak/environment.ts";
import { faultsOf, type Sample } from "./soak/verdict.ts";
import { withChildren } from "./targets.ts";

const HELP = `npm run soak -- [--minutes N | --seconds N] [--rate N] [--page FILE]

Does all that clients and operators do at a rate (default 100 a second, 30 minutes), with a row a minute. The exit code
is 1 where something failed, descriptors grew or, from 5 minutes on, memory grew or clients waited longer at the end.
With --page the run is written down in Markdown, with soak.tsv beside it.
`;

interface Plan {
  readonly ms: number;
  readonly rate: number;
  /** Printed, one each minute in a long run. */
  readonly rows: number;
}

const MEBI = 1024 * 1024;
const MINUTE_MS = 60_000;
const WARM_UP_MS = 30_000;

/** Rows of a run of less than ten minutes. */
const LEAST_ROWS = 10;

/** Idle connections to v4 are kept for some seconds. */
const IDLE_MS = 8000;

const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

async function settled({ gateway }: SoakEnvironment): Promise<number> {
  await wait(IDLE_MS);
  return descriptorsOf(gateway.pid);
}

/** The first query starts a thread and opens files, which stay open. */
async function openAuditForReading({ adminUrl }: SoakEnvironment): Promise<void> {
  const response = await fetch(`${adminUrl}/api/audit?limit=1`);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`the audit could not be read: ${response.status}`);
}

const percentile = (times: readonly number[], share: number): number =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length * share)] ?? 0;

async function sample({ gateway, inspectorUrl }: SoakEnvironment, tally: Tally, ms: number): Promise<Sample> {
  const times = tally.takeTimes();
  const heap = await heapOf(inspectorUrl);
  return {
    second: Math.round(ms / 1000),
    responses: times.length,
    p99: percentile(times, 0.99),
    residentMb: (processCost(gateway.pid)?.memory ?? Number.NaN) / MEBI,
    heapMb: heap / MEBI,
    descriptors: descriptorsOf(gateway.pid),
  };
}

/** Loads the place, and prints a row at each step. */
async function watch(environment: SoakEnvironment, { operations }: Clients, { ms, rate, rows }: Plan) {
  const everyMs = ms / rows;
  const tally = openTally(operations);
  const operator = operate(environment, everyMs, tally);
  const over = runOperations(operations, tally, { ms, rate });
  const samples: Sample[] = [];
  process.stdout.write(HEAD);
  const begun = performance.now();
  for (let count = 1; count <= rows; count += 1) {
    await wait(Math.max(0, begun + count * everyMs - performance.now()));
    const taken = await sample(environment, tally, performance.now() - begun);
    samples.push(taken);
    process.stdout.write(row(taken));
  }
  await over;
  await operator.stop();
  const done = new Map(tally.done)
    .set("a reload of the pack", operator.reloads())
    .set("an export of the audit", operator.exports());
  return { samples, failures: tally.failures, done };
}

async function soak(plan: Plan): Promise<Run> {
  const { ms, rate, rows } = plan;
  return withChildren(async (keep, folder) => {
    const tokenSeconds = tokenSecondsOf(ms / 1000);
    const environment = await startEnvironment(keep, folder, tokenSeconds);
    const clients = await openClients(environment);
    try {
      const { operations } = clients;
      await runOperations(operations, openTally(operations), { ms: Math.min(ms / 4, WARM_UP_MS), rate });
      await openAuditForReading(environment);
      const before = await settled(environment);
      const watched = await watch(environment, clients, plan);
      const descriptors = { before, after: await settled(environment) };
      const setting = {
        minutes: ms / MINUTE_MS,
        rate,
        tokenSeconds,
        everySeconds: Math.round(ms / rows / 1000),
      };
      return { ...setting, ...watched, descriptors };
    } finally {
      await clients.close();
    }
  });
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    seconds: { type: "string" },
    rate: { type: "string", default: "100" },
    page: { type: "string" },
    help: { type: "boolean", short: "h" },
  },
});
const seconds = values.seconds === undefined ? Number(values.minutes) * 60 : Number(values.seconds);
if (values.help || !(seconds > 0) || !(Number(values.rate) > 0)) process.stdout.write(HELP);
else {
  const rows = Math.max(LEAST_ROWS, Math.floor(seconds / 60));
  const run = await soak({ ms: seconds * 1000, rate: Number(values.rate), rows });
  const times = [...run.done].map(([name, count]) => `${String(count).padStart(8)} ${name}\n`).join("");
  process.stdout.write(`\n${times}\n${figures(run)}\nVerdict: ${verdict(run)}\n`);
  if (values.page !== undefined) {
    await writeFile(values.page, page(run));
    await writeFile(join(dirname(values.page), "soak.tsv"), measurements(run.samples));
  }
  process.exitCode = faultsOf(run).length > 0 ? 1 : 0;
}
