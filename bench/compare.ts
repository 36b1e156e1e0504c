/**
 * Compares this working tree with another commit in one run: the CPU time of a request, and then the cost of a start, as
 * ratios. Each round loads both at the same time, so that other load on the machine affects both, and none of them pauses: after a
 * pause of seconds a request costs more for a while.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Child } from "./child.ts";
import type { Loader } from "./loader.ts";
import { AFTERMATH_MS, upstreamState } from "./measure.ts";
import type { BenchOptions } from "./options.ts";
import { processCost } from "./process-cost.ts";
import { median } from "./report.ts";
import { ALPHA, NATIVE, startGateway, startPeer, startUpstream, withChildren } from "./targets.ts";

const ROOT = join(import.meta.dirname, "..");

const git = (...args: readonly string[]): string =>
  execFileSync("git", args, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();

/** Checks a commit out into a folder, with its modules: this tree's where the lock file is the same. Builds it, if `built`. */
function checkOut(commit: string, folder: string, built: boolean): void {
  git("worktree", "add", "--quiet", "--detach", folder, commit);
  const lockFile = (root: string): string => readFileSync(join(root, "package-lock.json"), "utf8");
  const modules = join(ROOT, "node_modules");
  if (lockFile(folder) === lockFile(ROOT) && existsSync(modules))
    symlinkSync(modules, join(folder, "node_modules"), "dir");
  else execFileSync("npm", ["ci", "--silent"], { cwd: folder, stdio: "inherit" });
  if (built)
    execFileSync("npm", ["run", "--silent", "build"], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
    });
}

/** One kind of request to the gateways of both commits, and where there is one to the peer. */
interface Comparison {
  readonly name: string;
  readonly servers: readonly Child[];
  readonly path: string;
  readonly authorization: string;
}

/** CPU microseconds of a request, of each server; NaN where the system does not report it. All are loaded at the same time. */
async function measureRound(
  { servers, path, authorization }: Comparison,
  loaders: readonly Loader[],
  { connections, ms }: { readonly connections: number; readonly ms: number },
): Promise<number[]> {
  const before = servers.map(({ pid }) => processCost(pid));
  const loads = await Promise.all(
    servers.map(({ url }, index) =>
      (loaders[index] as Loader).run({ url, path, authorization, connections, ms }),
    ),
  );
  for (const { requests, failed, fault } of loads)
    if (failed > 0 || requests === 0) throw new Error(`${path}: ${failed} failed: ${fault}`);
  await wait(AFTERMATH_MS);
  return servers.map(({ pid }, index) => {
    const [start, end] = [before[index], processCost(pid)];
    return start && end ? (end.cpu - start.cpu) / (loads[index]?.requests ?? 0) : Number.NaN;
  });
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;

const cell = (value: number, digits: number, width: number): string => value.toFixed(digits).padStart(width);

/** One row: the costs of both, and the median, the quartiles and the extremes of their ratios, round by round. */
function row(name: string, rounds: readonly (readonly number[])[]): string {
  const [mine, other] = [0, 1].map((index) => rounds.map((costs) => costs[index] ?? Number.NaN));
  const ratios = rounds.map(([here = Number.NaN, there = Number.NaN]) => here / there);
  return (
    name.padEnd(38) +
    cell(median(mine ?? []), 0, 8) +
    cell(median(other ?? []), 0, 8) +
    cell(median(ratios), 3, 8) +
    [0, 0.25, 0.75, 1].map((share) => cell(quantile(ratios, share), 2, 7)).join("")
  );
}

const head = (unit: string): string =>
  unit.padEnd(38) +
  ["here", "there", "ratio"].map((title) => title.padStart(8)).join("") +
  ["least", "25 %", "75 %", "most"].map((title) => title.padStart(7)).join("");

/** What a start takes, in milliseconds. */
interface StartCost {
  /** Until it reports ready, after reading the catalogs. */
  readonly ready: number;
  readonly cpu: number;
}

/** Starts the gateways of both commits in turns. The first start of each fills its caches and does not count. */
async function measureStarts(
  starts: readonly (() => Promise<Child>)[],
  rounds: number,
): Promise<StartCost[][]> {
  const costs: StartCost[][] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const ofRound: StartCost[] = [];
    for (const start of starts) {
      const begun = performance.now();
      const gateway = await start();
      const ready = performance.now() - begun;
      ofRound.push({ ready, cpu: (processCost(gateway.pid)?.cpu ?? Number.NaN) / 1000 });
      await gateway.stop();
    }
    if (round > 0) costs.push(ofRound);
  }
  return costs;
}

/** Gateways of one commit. */
interface Gateways {
  readonly off: Child;
  readonly metadata: Child;
  readonly full: Child;
}

/** Compares this working tree with a commit. Prints each row as soon as it is measured. */
export async function compareWith(
  commit: string,
  loaders: readonly [Loader, Loader],
  { rounds, warmUpMs, measureMs, connections, built }: BenchOptions,
  print: (line: string) => void,
): Promise<void> {
  const id = git("rev-parse", "--short", `${commit}^{commit}`);
  await withChildren(async (keep, folder) => {
    const other = join(folder, "commit");
    try {
      checkOut(id, other, built);
      const upstream = await keep(startUpstream());
      const start = (root: string, data: string, audit: string): Promise<Child> =>
        keep(startGateway({ upstream, audit, root, folder: join(folder, data), built }));
      const startAll = async (root: string, data: string): Promise<Gateways> => ({
        off: await start(root, data, "off"),
        metadata: await start(root, data, "metadata"),
        full: await start(root, data, "full"),
      });
      const here = await startAll(ROOT, "here");
      const there = await startAll(other, "there");
      const peer = await keep(startPeer(upstream));
      const same = await keep(startPeer(upstream));
      const bare = await keep(startPeer(upstream, "none"));
      const chain = await keep(startPeer(upstream, "chain"));
      const { one, disk } = await upstreamState({ upstream });
      const list = "/v4/vm/instances";
      const both = (name: keyof Gateways): readonly Child[] => [here[name], there[name]];
      const comparisons: readonly Comparison[] = [
        { name: "List, AUDIT=off", servers: both("off"), path: list, authorization: ALPHA },
        { name: "List, AUDIT=metadata", servers: both("metadata"), path: list, authorization: ALPHA },
        { name: "List, AUDIT=full", servers: both("full"), path: list, authorization: ALPHA },
        { name: "Disk, AUDIT=off", servers: both("off"), path: disk, authorization: ALPHA },
        { name: "Disk, AUDIT=metadata", servers: both("metadata"), path: disk, authorization: ALPHA },
        { name: "Instance, 3 v4 calls", servers: both("metadata"), path: one, authorization: ALPHA },
        ...(["off", "metadata", "full"] as const).flatMap((audit) => [
          { name: `Native list, AUDIT=${audit}`, servers: both(audit), path: list, authorization: NATIVE },
          { name: `Native disk, AUDIT=${audit}`, servers: both(audit), path: disk, authorization: NATIVE },
        ]),
        {
          name: "The peer, with Express / without",
          servers: [peer, bare],
          path: disk,
          authorization: NATIVE,
        },
        {
          name: "The peer, with cors and a router",
          servers: [chain, bare],
          path: disk,
          authorization: NATIVE,
        },
        // Two processes of the same server: how much of a ratio is noise.
        { name: "The peer with another, list", servers: [peer, same], path: list, authorization: NATIVE },
      ];
      print(
        `This working tree ("here") and ${id} ("there"), both from ${built ? "dist" : "src"}/, loaded at the same time: ${rounds} rounds of`,
      );
      print(
        `${measureMs} ms at ${connections} connections each. "ratio" is the median of the ratios of all rounds.\n`,
      );
      print(head("CPU us a request"));
      for (const comparison of comparisons) {
        await measureRound(comparison, loaders, { connections, ms: warmUpMs });
        const costs: number[][] = [];
        for (let round = 0; round < rounds; round += 1)
          costs.push(await measureRound(comparison, loaders, { connections, ms: measureMs }));
        print(row(comparison.name, costs));
      }
      const starts = [
        () => start(ROOT, "starts-here", "metadata"),
        () => start(other, "starts-there", "metadata"),
      ];
      const startCosts = await measureStarts(starts, rounds);
      const each = (key: keyof StartCost) => startCosts.map((costs) => costs.map((cost) => cost[key]));
      print(`\n${head("A start, ms")}`);
      print(row("Until it is ready", each("ready")));
      print(row("CPU", each("cpu")));
    } finally {
      git("worktree", "remove", "--force", other);
    }
  });
}
