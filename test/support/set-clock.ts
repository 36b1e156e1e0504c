/** A clock that a test may set while a process runs by it: the process is started with the library of `faketime`. */
import { globSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where Debian puts it; undefined where it isn't installed. */
export const FAKETIME = globSync("/usr/lib/*/faketime/libfaketime.so.1")[0];

export interface SettableClock {
  /** What the process has to be started with. */
  readonly env: Readonly<Record<string, string>>;
  /** The time of day, as the process sees it from now on, is that of this machine and this many seconds. */
  set(seconds: number): void;
  /** The clock stands still at a time, until it is set again. */
  stopAt(time: Date): void;
}

/** @param folder to keep the setting in. The clock shows the time of this machine at first. */
export function createSettableClock(folder: string): SettableClock {
  const file = join(folder, "clock");
  function write(text: string): void {
    writeFileSync(`${file}.new`, `${text}\n`);
    renameSync(`${file}.new`, file);
  }
  const set = (seconds: number): void => write(`${seconds < 0 ? "" : "+"}${seconds}`);
  set(0);
  return {
    set,
    stopAt: (time) => write(time.toISOString().slice(0, 19).replace("T", " ")),
    env: {
      TZ: "UTC",
      LD_PRELOAD: FAKETIME ?? "",
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      // Somebody who sets the clock sets neither the clock of timers nor the times of files.
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    },
  };
}
