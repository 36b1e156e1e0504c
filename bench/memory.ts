import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Child } from "./child.ts";
import { growthBetween, readSnapshot, type Growth } from "./heap-snapshot.ts";
import type { Loader } from "./loader.ts";
import type { BenchOptions } from "./options.ts";
import { processCost } from "./process-cost.ts";
import { ALPHA, startGateway, startPeer, startUpstream, withChildren } from "./targets.ts";

const CONNECTIONS = 64;
const PATH = "/v4/vm/instances";
const MEBI = 1024 * 1024;

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

/** Resident bytes after the time under load. */
export interface Memory {
  readonly metadata: number;
  readonly full: number;
  readonly peer: number;
}

/** Each in a new process, one after the other. */
export function measureMemory(loader: Loader, { memoryMs, built }: BenchOptions): Promise<Memory> {
  return withChildren(async (keep, folder) => {
    const upstream = await keep(startUpstream());
    async function after(server: Promise<Child>): Promise<number> {
      const child = await keep(server);
      await load(loader, child, memoryMs);
      const bytes = resident(child);
      await child.stop();
      return bytes;
    }
    return {
      metadata: await after(startGateway({ upstream, audit: "metadata", folder, built })),
      full: await after(startGateway({ upstream, audit: "full", folder, built })),
      peer: await after(startPeer(upstream)),
    };
  });
}

const inMebi = (bytes: number): string => `${(bytes / MEBI).toFixed(0)} MB`;

export const memoryReport = ({ metadata, full, peer }: Memory, { memoryMs }: BenchOptions): string =>
  [
    "",
    `Resident after ${memoryMs / 1000} s of lists at ${CONNECTIONS} connections: AUDIT=metadata ${inMebi(metadata)},`,
    `AUDIT=full ${inMebi(full)}, the peer ${inMebi(peer)}.`,
    "",
  ].join("\n");

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
