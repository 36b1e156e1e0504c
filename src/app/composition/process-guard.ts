import type { Log } from "../../base/index.ts";

/** Milliseconds in addition to the grace time of requests, to commit the audit and close the stores. */
const CLOSE_MS = 3000;

/**
 * Logs errors that no code caught. After an unhandled rejection the process continues: no client waits for the promise.
 * After an uncaught exception its state can't be trusted: in-flight requests finish, and the process exits with code 1.
 *
 * @param graceMs Milliseconds that in-flight requests may take.
 */
export function guardProcess(log: Log, graceMs: number) {
  let stop: () => Promise<unknown> = async () => {};
  let isDraining = false;
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
      "an exception was not caught: the process drains and exits",
    );
    if (isDraining) return;
    isDraining = true;
    setTimeout(exit, graceMs + CLOSE_MS);
    void drain();
  });
  return {
    /** Sets the function that runs after an uncaught exception, before the process exits. */
    drainWith(given: () => Promise<unknown>): void {
      stop = given;
    },
  };
}
