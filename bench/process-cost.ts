import { readdirSync, readFileSync } from "node:fs";

/** What a process has cost so far. */
export interface ProcessCost {
  /** User and system time of all its threads, in microseconds. */
  readonly cpu: number;
  /** Resident memory now, in bytes. */
  readonly memory: number;
}

/** The first field of a thread's schedstat: nanoseconds on a processor. The times in `stat` have steps of 10 ms. */
const threadNanoseconds = (pid: number, thread: string): number =>
  Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ", 1)[0]);

function ownCost(pid: number): ProcessCost {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.reduce((sum, thread) => sum + threadNanoseconds(pid, thread), 0);
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return { cpu: nanoseconds / 1000, memory: Number(kilobytes) * 1024 };
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
