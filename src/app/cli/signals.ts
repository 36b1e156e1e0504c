import { closeSync, openSync } from "node:fs";

/**
 * Milliseconds within which two signals are treated as one. Under npm, Ctrl-C sends the signal twice: from the
 * terminal, and from npm.
 */
const DUPLICATE_MS = 500;

const SIGNAL_NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

/**
 * Resolves at the first SIGTERM or SIGINT. A second signal ends the process immediately, with the exit code that shells
 * use for a signal: 128 plus its number.
 */
export function waitForShutdownSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    for (const [signal, number] of Object.entries(SIGNAL_NUMBERS)) {
      process.on(signal, () => {
        const now = performance.now();
        firstAt ??= now;
        if (now - firstAt > DUPLICATE_MS) process.exit(128 + number);
        resolve();
      });
    }
  });
}

/** Whether the terminal of the process was closed. A closing terminal sends SIGHUP to its processes. */
function isTerminalClosed(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return false;
  } catch {
    return true;
  }
}

/** Calls `onReload` for each SIGHUP from a person or a program. A closed terminal is treated as SIGTERM instead. */
export function onSighup(onReload: () => void): void {
  const hadTerminal = process.stdin.isTTY || process.stdout.isTTY;
  process.on("SIGHUP", () => {
    if (hadTerminal && isTerminalClosed()) process.emit("SIGTERM", "SIGTERM");
    else onReload();
  });
}
