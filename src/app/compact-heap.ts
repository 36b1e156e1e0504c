import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const CHECK_MS = 5000;

/**
 * Compacts the heap once, as soon as the process is unused: loading a pack leaves a heap more than twice as large as what it
 * keeps, and V8 keeps the rest from the system. It takes a few hundred milliseconds in which nothing else runs.
 *
 * @param isUnused Whether nobody would notice. It is asked every five seconds.
 */
export function compactHeapOnce(isUnused: () => boolean): void {
  const timer = setInterval(() => {
    if (!isUnused()) return;
    clearInterval(timer);
    // Only contexts that are created while the flag is set have the function.
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as NodeJS.GCFunction;
    setFlagsFromString("--no-expose-gc");
    collect({ type: "major", execution: "sync", flavor: "last-resort" });
  }, CHECK_MS);
  timer.unref();
}
