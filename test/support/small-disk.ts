/** A disk of its own for a test to fill: a file system in memory, which only root may mount. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endsWithTest } from "./ends-with-test.ts";

export interface SmallDisk {
  readonly folder: string;
  /** Leaves no byte free. */
  fill(): void;
  /** Frees the space that `fill` used. */
  free(): void;
  remove(): void;
}

/** @param size as `mount` knows it: `16m`. @throws where nothing may be mounted */
export function mountSmallDisk(size: string): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), "disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder], { stdio: "pipe" });
  } catch (error) {
    rmdirSync(folder);
    throw error;
  }
  const ballast = join(folder, "ballast");
  const page = Buffer.alloc(4096);
  return {
    folder,
    fill() {
      const file = openSync(ballast, "a");
      try {
        for (;;) writeSync(file, page);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(ballast),
    remove: endsWithTest(() => {
      execFileSync("umount", [folder]);
      rmdirSync(folder);
    }),
  };
}

export function canMount(): boolean {
  try {
    mountSmallDisk("64k").remove();
    return true;
  } catch {
    return false;
  }
}
