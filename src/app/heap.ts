import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** 24 days, almost the maximum. */
const NEVER_MS = 2_000_000_000;
/** How much the heap may grow from one full garbage collection to the next. */
const GROWTH_PERCENT = 150;

/**
 * Sets when V8 collects garbage, in this process (`npm run bench`, "The first after 15 s without requests").
 *
 * - Not because the process is idle: V8 would drop optimized functions with the garbage, and the requests of the next seconds
 *   would cost one and a half times as much.
 * - Not sooner after `compactHeapOnce`: V8 would let the small heap grow by a third at a time, which takes a full garbage
 *   collection every 2000 requests.
 */
export function configureHeap(): void {
  setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${NEVER_MS}`);
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

const CHECK_MS = 5000;
/** Requests after which V8 has not optimized much yet. */
const MAX_REQUESTS = 1000;

/** What clients have done so far. */
interface ClientActivity {
  /** Number of open connections. */
  readonly connections: () => number;
  /** Number of requests. */
  readonly requests: () => number;
}

/**
 * Compacts the heap once, as soon as nobody is connected: loading a pack leaves a heap more than twice as large as what it
 * keeps, and V8 keeps the rest from the system. It takes a few hundred milliseconds in which nothing else runs. After many
 * requests it is left out, since V8 drops optimized functions with it.
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
