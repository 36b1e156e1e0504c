import { spawn, spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";

/** Runs a command when no other process needs the processor (`SCHED_IDLE` of Linux). */
const AT_IDLE_PRIORITY = ["--idle", "0"];

/**
 * Keeps all processors busy with loops of idle priority, which give way to any other process. A virtual processor that sleeps
 * takes long to wake up, and that counts as CPU time of the process that wakes it: a gateway would seem to cost more while
 * other processes have time to sleep.
 *
 * @returns Whether the loops run: it takes Linux and `chrt`. They end with this process.
 */
export function keepAwake(): boolean {
  if (spawnSync("chrt", [...AT_IDLE_PRIORITY, "true"]).status !== 0) return false;
  const loops = Array.from({ length: availableParallelism() }, () =>
    spawn("chrt", [...AT_IDLE_PRIORITY, process.execPath, "-e", "for (;;);"], { stdio: "ignore" }),
  );
  process.once("exit", () => loops.forEach((loop) => loop.kill("SIGKILL")));
  for (const loop of loops) loop.unref();
  return true;
}
