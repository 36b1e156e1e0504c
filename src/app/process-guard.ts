import type { Log } from "../observability/log.ts";

/** Beyond the grace of the requests: for the audit, and whatever else is put away at the end. */
const LAST_MS = 3000;

export interface ProcessGuard {
  /** From now on an uncaught exception is followed by this before the process ends. */
  drainWith(stop: () => Promise<unknown>): void;
}

/**
 * Keeps errors that nobody caught from ending the process without a word. A rejected promise that nobody handles is
 * logged, and the process goes on: nothing was left half done that somebody waits for. After an uncaught exception
 * the state of the process can't be trusted: it is logged, requests in flight end, and the process exits with 1.
 *
 * @param graceMs How long requests in flight may take at the end.
 */
export function guardProcess(log: Log, graceMs: number): ProcessGuard {
  let stop: () => Promise<unknown> = async () => {};
  let ending = false;
  const exit = (): never => process.exit(1);
  async function drain(): Promise<void> {
    await stop().catch((error: unknown) =>
      log.error({ code: "AG_DRAIN_FAILED", err: error }, "the drain failed"),
    );
    exit();
  }
  process.on("unhandledRejection", (reason) => {
    log.error(
      { code: "AG_UNHANDLED_REJECTION", err: reason },
      "a promise was rejected, and no code handled it",
    );
  });
  process.on("uncaughtException", (error) => {
    log.fatal(
      { code: "AG_UNCAUGHT_EXCEPTION", err: error },
      "an exception was not caught: the process drains and ends",
    );
    if (ending) return;
    ending = true;
    setTimeout(exit, graceMs + LAST_MS);
    void drain();
  });
  return {
    drainWith(given) {
      stop = given;
    },
  };
}
