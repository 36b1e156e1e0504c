import { closeSync, openSync } from "node:fs";

/** Was there a terminal, and is it gone? It sends SIGHUP to all that run in it when it is closed. */
function terminalClosed(had: boolean): boolean {
  if (!had) return false;
  try {
    closeSync(openSync("/dev/tty", "r"));
    return false;
  } catch {
    return true;
  }
}

/** Calls back with each SIGHUP that somebody sends, and ends the process as SIGTERM does when its terminal is closed. */
export function onSighup(hear: () => void): void {
  const had = process.stdin.isTTY || process.stdout.isTTY;
  process.on("SIGHUP", () => {
    if (terminalClosed(had)) process.emit("SIGTERM", "SIGTERM");
    else hear();
  });
}
