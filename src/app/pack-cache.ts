import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { CheckedPack, PackCache } from "../mapping/load/checked-pack.ts";

/** Identifies the sources of this build; see `rolldown.config.js`. Not defined in a checkout. */
declare const BUILD_ID: string | undefined;

/** Next to the compiled program; see `main.ts`. */
const FOLDER = join(import.meta.dirname, "../../node_modules/.cache/alpha-gateway/packs");

/** Packs that are kept. Others are removed when one is written. */
const MAX_PACKS = 8;

/** Whether only this user, or root, can write a file: what it has becomes code. */
function isTrusted(path: string): boolean {
  const { uid, mode } = statSync(path);
  const user = process.getuid?.();
  return user === undefined || ((uid === user || uid === 0) && (mode & 0o022) === 0);
}

const checksum = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Removes all packs but the newest. */
function removeOldPacks(folder: string): void {
  const files = readdirSync(folder).map((name) => join(folder, name));
  const byAge = files
    .map((file) => ({ file, age: statSync(file).mtimeMs }))
    .sort((one, other) => other.age - one.age);
  for (const { file } of byAge.slice(MAX_PACKS)) rmSync(file);
}

/**
 * Opens the cache of valid packs in a folder. A folder or a file that can't be used, or that others can write, counts as
 * missing.
 *
 * @param build Other builds have other rules: they don't share packs.
 */
export function openPackCache(
  folder = FOLDER,
  build = typeof BUILD_ID === "string" ? BUILD_ID : undefined,
): PackCache | undefined {
  if (build === undefined) return undefined;
  const fileOf = (hash: string): string => join(folder, `${build}-${hash}.json`);
  return {
    read(hash) {
      try {
        if (!isTrusted(folder) || !isTrusted(fileOf(hash))) return undefined;
        const [sum, text = ""] = readFileSync(fileOf(hash), "utf8").split("\n");
        return sum === checksum(text) ? (JSON.parse(text) as CheckedPack) : undefined;
      } catch {
        return undefined;
      }
    },
    write(hash, pack) {
      const text = JSON.stringify(pack);
      // Not all of YAML is JSON: infinite numbers, for example, are not.
      if (!isDeepStrictEqual(JSON.parse(text), pack)) return;
      const file = fileOf(hash);
      try {
        mkdirSync(folder, { recursive: true, mode: 0o755 });
        // No reader, and no other process that starts, may see a part of it.
        writeFileSync(`${file}.${process.pid}`, `${checksum(text)}\n${text}`, { mode: 0o644 });
        renameSync(`${file}.${process.pid}`, file);
        removeOldPacks(folder);
      } catch {
        // A container can't write it.
      }
    },
  };
}
