import { readdirSync, readFileSync } from "node:fs";

/** What a process has cost so far. */
export interface ProcessCost {
  /** User and system time of all its threads, in microseconds; steps of 10 000. */
  readonly cpu: number;
  /** Resident memory now, in bytes. */
  readonly memory: number;
}

/** The kernel shows programs this many ticks a second, whatever its own clock does (proc(5)). */
const TICKS_A_SECOND = 100;

/** Fields of /proc/PID/stat after the program's name, counted from 0 (proc(5) counts from 3 there). */
const USER_TIME = 11;
const SYSTEM_TIME = 12;

function ownCost(pid: number): ProcessCost {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name stands in parentheses and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME]);
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return { cpu: (ticks * 1_000_000) / TICKS_A_SECOND, memory: Number(kilobytes) * 1024 };
}

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number),
  );

/** Reads it from the kernel, of a process and those it started; undefined where there is no /proc. */
export function processCost(pid: number): ProcessCost | undefined {
  try {
    const started = childrenOf(pid).map(processCost);
    return started.reduce<ProcessCost>(
      (sum, cost) => ({ cpu: sum.cpu + (cost?.cpu ?? 0), memory: sum.memory + (cost?.memory ?? 0) }),
      ownCost(pid),
    );
  } catch {
    return undefined;
  }
}
