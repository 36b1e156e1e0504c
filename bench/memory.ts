import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Child } from "./child.ts";
import { growthBetween, readSnapshot, type Growth } from "./heap-snapshot.ts";
import { MEMORY_GOALS } from "./goals.ts";
import type { Loader } from "./loader.ts";
import type { BenchOptions } from "./options.ts";
import { processCost } from "./process-cost.ts";
import { ALPHA, startGateway, startPeer, startUpstream, withChildren } from "./targets.ts";

const CONNECTIONS = 16;
const PATH = "/v4/vm/instances";
const MEBI = 1024 * 1024;

/**
 * Before the load. V8 marks its heap when a start is over, and takes what it finds in use meanwhile for long-lived: a load that
 * begins at once is in its memory for minutes.
 */
const SETTLE_MS = 10_000;

/** What a heap snapshot may take to be written; the process does nothing else meanwhile. */
const SNAPSHOT_MS = 60_000;

const load = async (loader: Loader, server: Child, ms: number): Promise<number> =>
  (
    await loader.run({
      url: server.url,
      path: PATH,
      authorization: ALPHA,
      connections: CONNECTIONS,
      ms,
    })
  ).requests;

const resident = ({ pid }: Child): number => processCost(pid)?.memory ?? Number.NaN;

/** Resident bytes of a server. */
export interface Memory {
  readonly name: string;
  readonly idle: number;
  /** After the first time under load, and after all of it. */
  readonly early: number;
  readonly late: number;
  /** The goal for `early`, as a ratio to the peer; undefined for the peer. */
  readonly goal?: number | undefined;
}

/** Each server in a new process, one after the other; the peer comes last. */
export function measureMemory(
  loader: Loader,
  { memoryMs, laterMs, built }: BenchOptions,
  print: (row: string) => void,
): Promise<Memory[]> {
  return withChildren(async (keep, folder) => {
    const upstream = await keep(startUpstream());
    async function measureOne(name: string, server: Promise<Child>, goal?: number): Promise<Memory> {
      const child = await keep(server);
      await wait(SETTLE_MS);
      const idle = resident(child);
      await load(loader, child, memoryMs);
      const early = resident(child);
      await load(loader, child, Math.max(laterMs - memoryMs, 0));
      const memory = { name, idle, early, late: resident(child), goal };
      await child.stop();
      print(`${name}: ${inMebi(idle)}, ${inMebi(early)}, ${inMebi(memory.late)}`);
      return memory;
    }
    const measured: Memory[] = [];
    for (const [audit, goal] of Object.entries(MEMORY_GOALS))
      measured.push(
        await measureOne(`AUDIT=${audit}`, startGateway({ upstream, audit, folder, built }), goal),
      );
    return [...measured, await measureOne("the peer", startPeer(upstream))];
  });
}

const inMebi = (bytes: number): string => `${(bytes / MEBI).toFixed(0)} MB`;

/** One row for each server. */
export function memoryReport(measured: readonly Memory[], { memoryMs, laterMs }: BenchOptions): string {
  const peer = measured.at(-1)?.early ?? Number.NaN;
  const row = (name: string, cells: readonly string[]): string =>
    name.padEnd(34) + cells.map((cell) => cell.padStart(10)).join("");
  const times = [memoryMs, laterMs].map((ms) => `${ms / 1000} s`);
  return [
    "",
    row(`Resident, lists at ${CONNECTIONS} connections`, ["idle", ...times, "x peer", "goal", "growth"]),
    ...measured.map(({ name, idle, early, late, goal }) =>
      row(name, [
        ...[idle, early, late].map(inMebi),
        (early / peer).toFixed(2),
        goal === undefined ? "-" : goal.toFixed(2),
        (late / early).toFixed(2),
      ]),
    ),
    "",
  ].join("\n");
}

/** Has a process write its heap to a file; the signal is the one it was started with. */
async function snapshot({ pid }: Child, folder: string): Promise<string> {
  const before = new Set(await readdir(folder));
  process.kill(pid, "SIGUSR2");
  for (let waited = 0; waited < SNAPSHOT_MS; waited += 500) {
    await wait(500);
    const name = (await readdir(folder)).find((each) => each.endsWith(".heapsnapshot") && !before.has(each));
    const text = name === undefined ? undefined : await readSnapshot(join(folder, name));
    if (name !== undefined && text) return join(folder, name);
  }
  throw new Error(`no heap snapshot in ${SNAPSHOT_MS} ms`);
}

export interface HeapGrowth extends Growth {
  readonly requests: number;
  readonly seconds: number;
  readonly residentBefore: number;
  readonly residentAfter: number;
}

/** What the heap holds after the first minute of load, compared with what it holds after much more of it. */
export function measureGrowth(
  loader: Loader,
  { memoryMs, growthMs, built }: BenchOptions,
): Promise<HeapGrowth> {
  return withChildren(async (keep, folder) => {
    const upstream = await keep(startUpstream());
    const nodeArgs = ["--heapsnapshot-signal=SIGUSR2", `--diagnostic-dir=${folder}`];
    const server = await keep(startGateway({ upstream, audit: "metadata", folder, built, nodeArgs }));
    await wait(SETTLE_MS);
    await load(loader, server, memoryMs);
    const residentBefore = resident(server);
    const before = await readSnapshot(await snapshot(server, folder));
    const requests = await load(loader, server, growthMs);
    const residentAfter = resident(server);
    const after = await readSnapshot(await snapshot(server, folder));
    if (!before || !after) throw new Error("a heap snapshot can't be read");
    const seconds = growthMs / 1000;
    return { ...growthBetween(before, after), requests, seconds, residentBefore, residentAfter };
  });
}

export function growthReport(growth: HeapGrowth): string {
  const { requests, seconds, before, after, kinds, residentBefore, residentAfter } = growth;
  return [
    `Heap after a minute at ${CONNECTIONS} connections, and after ${seconds} s and ${requests} requests more:`,
    `${inMebi(before)}, ${inMebi(after)}; resident ${inMebi(residentBefore)}, ${inMebi(residentAfter)}.`,
    "What grew most, in KB (objects):",
    ...kinds.map(
      ({ name, bytes, count }) => `  ${(bytes / 1024).toFixed(1).padStart(8)} (${count})  ${name}`,
    ),
    "",
  ].join("\n");
}
