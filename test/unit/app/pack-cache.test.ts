import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openPackCache } from "../../../src/app/pack-cache.ts";
import { collectExpressions, ExpressionError } from "../../../src/jsonata/index.ts";
import { buildFiles, type PackCache } from "../../../src/mapping/load/checked-pack.ts";
import { readPack, type PackFiles } from "../../../src/mapping/load/load-pack.ts";
import { summarizePack } from "../../../src/mapping/pack-summary.ts";
import { readExamples } from "../../../src/tools/examples/example.ts";
import { runExamples } from "../../../src/tools/examples/run-examples.ts";

const BUILD = "0123456789abcdef";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pack-cache-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function openCache(build = BUILD): PackCache {
  const cache = openPackCache(folder, build);
  if (!cache) throw new Error("there is no cache");
  return cache;
}

const smallPack = (read = "name"): PackFiles => ({
  directory: "pack",
  files: [
    { file: "pack/pack.yaml", text: `format: 2\nclient: {}\nupstream: {}\n` },
    {
      file: "pack/book.yaml",
      text: `object: book\nlist: books\nfields:\n  title: { read: "${read}" }\nroutes:\n  - { client: GET /books/:id, upstream: "GET /items/{id}" }\n`,
    },
  ],
});

/** Builds a pack, and says whether the cache had it. */
function build(files: PackFiles, cache = openCache()): "read" | "written" | "neither" {
  let result: "read" | "written" | "neither" = "neither";
  buildFiles(
    files,
    {},
    {
      read(hash) {
        const pack = cache.read(hash);
        if (pack) result = "read";
        return pack;
      },
      write(hash, pack) {
        result = "written";
        cache.write(hash, pack);
      },
    },
  );
  return result;
}

describe("a pack from the cache", () => {
  test.each(["mappings", "test/fixtures/library-pack"])(
    "of %s passes its golden cases",
    async (directory) => {
      const files = readPack(directory);
      expect([build(files), build(files)]).toEqual(["written", "read"]);
      const pack = buildFiles(files, {}, openCache());
      const { examples, catalogs } = readExamples(directory, []);
      expect(await runExamples(pack, examples, catalogs)).toEqual([]);
    },
  );

  test("has the service's words, and the hash that it has without a cache", () => {
    const files = readPack("mappings");
    const words = { vm: "acme" };
    const built = buildFiles(files, words);
    build(files);
    const cached = buildFiles(files, words, openCache());
    expect(cached.hash).toBe(built.hash);
    expect(summarizePack(cached)).toEqual(summarizePack(built));
  });

  test("names the line of an expression that fails", () => {
    const files = smallPack("$error('no title')");
    const failure = (): unknown => {
      const { expressions } = collectExpressions(() => buildFiles(files, {}, openCache()));
      try {
        return expressions.map((expression) => expression.evaluate({}, {}));
      } catch (error) {
        return error;
      }
    };
    const [first, second] = [failure(), failure()];
    expect(build(files)).toBe("read");
    expect(first).toBeInstanceOf(ExpressionError);
    expect((second as Error).message).toBe((first as Error).message);
    expect((second as Error).message).toMatch(/^book\.yaml:4: fields\.title\.read: /);
  });
});

describe("the cache", () => {
  const cachedFile = (): string => join(folder, readdirSync(folder)[0] ?? "");

  test("has no pack whose files changed", () => {
    build(smallPack());
    expect(build(smallPack("label"))).toBe("written");
  });

  test("has no pack of another build of the program", () => {
    build(smallPack());
    expect(build(smallPack(), openCache("fedcba9876543210"))).toBe("written");
  });

  test("is not used in a checkout, whose rules change without a build", () => {
    expect(openPackCache(folder)).toBeUndefined();
  });

  test("never has an invalid pack", () => {
    expect(() => build(smallPack("$now()"))).toThrow("$now can't be used");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("has no pack that JSON cannot express", () => {
    const cache = openCache();
    cache.write("infinite", { "book.yaml": { definition: { limit: Infinity }, lines: [] } });
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each([
    ["cut", (text: string) => text.slice(0, 100)],
    ["changed", (text: string) => text.replace('"book"', '"cook"')],
    ["empty", () => ""],
  ])("ignores a file that was %s, and replaces it", (_how, damage) => {
    build(smallPack());
    const text = readFileSync(cachedFile(), "utf8");
    writeFileSync(cachedFile(), damage(text));
    expect(readFileSync(cachedFile(), "utf8")).not.toBe(text);
    expect(build(smallPack())).toBe("written");
    expect(build(smallPack())).toBe("read");
  });

  test("ignores a file that others can write: its content becomes code", () => {
    build(smallPack());
    chmodSync(cachedFile(), 0o666);
    expect(build(smallPack())).toBe("written");
  });

  test("ignores a folder that others can write", () => {
    build(smallPack());
    chmodSync(folder, 0o777);
    expect(build(smallPack())).toBe("written");
  });

  test("does without a folder", () => {
    folder = join("/dev/null", "packs");
    expect([build(smallPack()), build(smallPack())]).toEqual(["written", "written"]);
  });

  test("keeps the eight newest packs", () => {
    for (let index = 0; index < 12; index += 1) build(smallPack(`name${index}`));
    expect(readdirSync(folder)).toHaveLength(8);
    expect(build(smallPack("name11"))).toBe("read");
  });
});
