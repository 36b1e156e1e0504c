import { closeSync, openSync } from "node:fs";

/** Under npm, Ctrl-C sends the signal twice: the terminal sends one, and npm forwards one. Both count as one. */
const DUPLICATE_MS = 500;

const SIGNAL_NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

/**
 * Resolves at the first SIGTERM or SIGINT. A second signal ends the process at once, with the exit code that shells
 * give a process ended by a signal: 128 and its number.
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

/** Calls `onReload` for each SIGHUP that a person or a program sends. A closed terminal counts as SIGTERM instead. */
export function onSighup(onReload: () => void): void {
  const hadTerminal = process.stdin.isTTY || process.stdout.isTTY;
  process.on("SIGHUP", () => {
    if (hadTerminal && isTerminalClosed()) process.emit("SIGTERM", "SIGTERM");
    else onReload();
  });
}
