import { spawnSync } from "node:child_process";

/** The processor of the servers that are measured; everything else runs on the other one. */
const SERVERS = 0;
const OTHERS = 1;

let isPinned = false;

/**
 * Gives the servers that are measured a processor of their own, as in the measurements that the goals were set with. What this process
 * starts from now on runs on the other one.
 *
 * @throws {Error} Without Linux, `taskset` and two processors.
 */
export function pinProcesses(): void {
  // All threads of this process: children inherit the processor of the one that starts them.
  const { status } = spawnSync("taskset", ["-a", "-c", "-p", String(OTHERS), String(process.pid)]);
  if (status !== 0) throw new Error("--pin needs Linux, taskset and two processors");
  isPinned = true;
}

/** The start of a command line that runs a server on its processor; empty unless processes are pinned. */
export const serverCommand = (): readonly string[] => (isPinned ? ["taskset", "-c", String(SERVERS)] : []);
