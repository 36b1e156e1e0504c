import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** 23 days: V8 stores the delay as a signed 32-bit number of milliseconds. */
const LONG_DELAY_MS = 2_000_000_000;
/** By how much the heap may grow over what the last full garbage collection left. */
const GROWTH_PERCENT = 150;

/**
 * Sets two flags of V8 for this process.
 *
 * - Without the first, V8 collects garbage when the process is idle, and drops optimized functions with it. The requests of the
 *   next seconds then cost 1.7 times as much. The line "The first after 15 s without requests" of `npm run bench` shows it.
 * - Without the second, V8 lets the small heap that `compactHeapOnce` leaves grow by a third at a time, which takes a full garbage
 *   collection every few hundred requests.
 *
 * Call it at the end of a start: with other flags V8 does not use the compiled code that Node has of its own modules, and compiles
 * those that are loaded later, in each thread.
 */
export function configureHeap(): void {
  setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${LONG_DELAY_MS}`);
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

const CHECK_MS = 5000;
/** Up to this many requests V8 has optimized little, so that a compaction loses little. */
const MAX_REQUESTS = 1000;

/** What clients have done so far. */
interface ClientActivity {
  /** Number of open connections. */
  readonly connections: () => number;
  /** Number of requests. */
  readonly requests: () => number;
}

/**
 * Looks every five seconds whether nobody is connected, and then compacts the heap, once: loading a pack leaves a heap more than
 * twice as large as what it keeps, and V8 does not return the difference to the system. The compaction blocks the process for a
 * few hundred milliseconds. After 1000 requests it is left out, since V8 drops optimized functions with it.
 */
export function compactHeapOnce({ connections, requests }: ClientActivity): void {
  const timer = setInterval(() => {
    const isWarm = requests() > MAX_REQUESTS;
    if (connections() > 0 && !isWarm) return;
    clearInterval(timer);
    if (!isWarm) compactHeap();
  }, CHECK_MS);
  timer.unref();
}

function compactHeap(): void {
  // Only contexts that are created while the flag is set have the function.
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as NodeJS.GCFunction;
  setFlagsFromString("--no-expose-gc");
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
}
