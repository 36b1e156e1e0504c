/** Mixed load for a long time: does anything grow that shouldn't, and is every request answered? */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { ALPHA, NATIVE, startGateway, startUpstream, withChildren } from "./targets.ts";

interface Ask {
  readonly name: string;
  readonly method: "GET" | "PUT" | "POST";
  readonly path: string;
  readonly authorization: string;
  readonly body?: string;
  /** The client goes away before it has its answer. */
  readonly leaves?: boolean;
}

const list = { method: "GET", path: "/v4/vm/instances", authorization: ALPHA } as const;

/** Asked in turn. */
const asks = (one: string): readonly Ask[] => [
  { ...list, name: "list" },
  { ...list, name: "object", path: one },
  { ...list, name: "native list", authorization: NATIVE },
  { ...list, name: "write", method: "PUT", path: one, body: '{"label":"soaked"}' },
  { ...list, name: "refused body", method: "POST", body: "{" },
  { ...list, name: "not found", path: "/v4/nothing" },
  { ...list, name: "no token", authorization: "token" },
  { ...list, name: "client goes away", leaves: true },
];

interface Sample {
  readonly second: number;
  readonly residentMb: number;
  readonly descriptors: number;
  readonly p99: number;
  readonly answered: number;
}

const HELP = `npm run soak -- [--minutes N | --seconds N] [--rate N]

Loads the gateway with all kinds of requests at a rate (default 50 a second, 30 minutes). The exit code is 1 where an
answer was lost, descriptors grew, or (from 5 minutes on) memory did.
`;

const PAGE_KB = 4;
const residentMb = (pid: number): number =>
  (Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_KB) / 1024;
const descriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

const percentile = (times: readonly number[], share: number): number =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length * share)] ?? 0;

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / (numbers.length || 1);

/** Of a line through the points, by least squares: what is added from the first point to the last. */
function rise(numbers: readonly number[]): number {
  const middle = (numbers.length - 1) / 2;
  const height = mean(numbers);
  let [up, along] = [0, 0];
  for (const [at, number] of numbers.entries()) {
    up += (at - middle) * (number - height);
    along += (at - middle) ** 2;
  }
  return along === 0 ? 0 : (up / along) * (numbers.length - 1);
}

interface Load {
  /** Milliseconds of the answers since the last time this was asked. */
  times(): number[];
  readonly lost: string[];
  /** Resolves when all is answered. */
  readonly over: Promise<unknown>;
}

function load(url: string, all: readonly Ask[], { ms, rate }: { ms: number; rate: number }): Load {
  const pool = new Pool(url, { connections: 64, pipelining: 1 });
  const lost: string[] = [];
  const times: number[] = [];

  async function ask({ name, method, path, authorization, body, leaves }: Ask): Promise<void> {
    const begun = performance.now();
    const signal = leaves ? AbortSignal.timeout(1) : undefined;
    const headers = { authorization, ...(body !== undefined && { "content-type": "application/json" }) };
    try {
      const answer = await pool.request({
        method,
        path,
        headers,
        body: body ?? null,
        ...(signal && { signal }),
      });
      await answer.body.text();
      times.push(performance.now() - begun);
    } catch (error) {
      if (!leaves) lost.push(`${name}: ${(error as Error).message}`);
    }
  }

  async function run(): Promise<void> {
    const begun = performance.now();
    const asked: Promise<void>[] = [];
    for (let count = 0; performance.now() - begun < ms; count += 1) {
      const due = begun + (count * 1000) / rate;
      if (due > performance.now()) await wait(due - performance.now());
      const next = all[count % all.length];
      if (next) asked.push(ask(next));
      if (asked.length >= 1000) await Promise.all(asked.splice(0, 500));
    }
    await Promise.all(asked);
    await pool.close();
  }
  return { times: () => times.splice(0), lost, over: run() };
}

const row = ({ second, residentMb, descriptors, p99, answered }: Sample): string =>
  `| ${second} | ${answered} | ${residentMb.toFixed(1)} | ${descriptors} | ${p99.toFixed(1)} |`;

const TOLERATED_DESCRIPTORS = 8;
/** Of the resident memory, over the second half of a run. */
const TOLERATED_RISE = 0.1;

function verdict(samples: readonly Sample[], { lost }: Load, before: number, after: number): string[] {
  const half = samples.slice(Math.floor(samples.length / 2)).map((sample) => sample.residentMb);
  const long = (samples.at(-1)?.second ?? 0) >= 300;
  return [
    ...(lost.length > 0 ? [`${lost.length} answers lost: ${lost[0]}`] : []),
    ...(after > before + TOLERATED_DESCRIPTORS ? [`descriptors grew from ${before} to ${after}`] : []),
    ...(long && rise(half) > mean(half) * TOLERATED_RISE
      ? [`memory rose by ${rise(half).toFixed(1)} MB`]
      : []),
  ];
}

/** Idle connections to v4 are kept for some seconds. */
const IDLE_MS = 8000;

async function settled(pid: number): Promise<number> {
  await wait(IDLE_MS);
  return descriptors(pid);
}

async function soak(ms: number, rate: number): Promise<number> {
  return withChildren(async (keep, folder) => {
    const upstream = await keep(startUpstream());
    const server = await keep(startGateway({ upstream, audit: "full", folder, built: false }));
    const state = (await (await fetch(`${upstream.url}/answered`)).json()) as { one: string };
    const everyMs = Math.max(1000, ms / 20);
    await load(server.url, asks(state.one), { ms: Math.min(ms / 4, 30_000), rate }).over;
    const before = await settled(server.pid);
    const running = load(server.url, asks(state.one), { ms, rate });
    const ended = running.over.then(() => true);
    const samples: Sample[] = [];
    process.stdout.write(
      "| Second | Answers | Resident MB | Descriptors | p99 ms |\n|---|---|---|---|---|\n",
    );
    let over = false;
    for (let second = everyMs / 1000; !over; second += everyMs / 1000) {
      over = await Promise.race([wait(everyMs, false), ended]);
      const times = running.times();
      const sample = {
        second: Math.round(second),
        residentMb: residentMb(server.pid),
        descriptors: descriptors(server.pid),
        p99: percentile(times, 0.99),
        answered: times.length,
      };
      samples.push(sample);
      process.stdout.write(`${row(sample)}\n`);
    }
    const after = await settled(server.pid);
    const faults = verdict(samples, running, before, after);
    const told = faults.length > 0 ? faults.join("; ") : "steady: no answer lost, nothing grew";
    process.stdout.write(`\nAfterwards ${after} descriptors, before ${before}. Verdict: ${told}.\n`);
    return faults.length > 0 ? 1 : 0;
  });
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    seconds: { type: "string" },
    rate: { type: "string", default: "50" },
    help: { type: "boolean", short: "h" },
  },
});
const seconds = values.seconds === undefined ? Number(values.minutes) * 60 : Number(values.seconds);
if (values.help || !(seconds > 0) || !(Number(values.rate) > 0)) process.stdout.write(HELP);
else process.exitCode = await soak(seconds * 1000, Number(values.rate));
