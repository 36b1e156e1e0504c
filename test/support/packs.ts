/** The packs of this repository: the product's, and the examples. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { type PackFiles, readPack } from "../../src/pack/load/load-pack.ts";
import { loadFiles, type LoadedPack } from "../../src/pack/load/loaded-pack.ts";
import type { Pack } from "../../src/pack/load/pack.ts";
import type { Settings } from "../../src/base/settings/setting-definitions.ts";

/** The examples that have a pack, by name. */
export const EXAMPLES: readonly string[] = readdirSync("examples").filter((name) =>
  existsSync(join("examples", name, "pack")),
);

/** The folder of an example's pack. */
export const exampleFolder = (name: string): string => join("examples", name, "pack");

/** The folders of all packs. */
export const PACK_FOLDERS: readonly string[] = ["mappings", ...EXAMPLES.map(exampleFolder)];

/** The packs of this repository, and of some gateways. */
const packs = new LRUCache<string, LoadedPack>({ max: 16 });

/** Loads a pack once for all tests of a worker: compiling it takes most of a start. */
export function loadOnce(files: PackFiles, settings: Pick<Settings, "WORDS">): LoadedPack {
  const key = JSON.stringify([files, Object.entries(settings.WORDS)]);
  return packs.get(key) ?? packs.set(key, loadFiles(files, settings)).get(key)!;
}

/** The pack of a folder, compiled once for all tests of a worker. */
export const packIn = (folder: string): Pack => loadOnce(readPack(folder), { WORDS: {} }).pack;
