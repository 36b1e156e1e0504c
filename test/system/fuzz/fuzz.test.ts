import { describe, expect, test } from "@jest/globals";
import { restoreEnv, setEnv } from "../../support/env.ts";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PACK_FOLDERS } from "../../support/packs.ts";
import { readCorpus } from "../../../fuzz/corpus.ts";
import { supervise, type Outcome, type Watch } from "../../../fuzz/supervise.ts";

const fuzz = (module: string, runs: number, name = "", watch: Watch = {}): Promise<Outcome> =>
  supervise(
    {
      module: pathToFileURL(join(import.meta.dirname, module)).href,
      runs,
      seed: 1,
      corpus: readCorpus(name),
    },
    watch,
  );

describe("npm run fuzz in short form finds no crash and no hang", () => {
  const targets = readdirSync("fuzz/targets").map((name) => name.slice(0, -3));

  test.each(targets)(
    "for %s, its corpus and five hundred mutations",
    async (name) => {
      const { crash, hang, runs } = await fuzz(
        `../../../fuzz/targets/${name}.ts`,
        readCorpus(name).length + 500,
        name,
      );
      expect({ crash, hang }).toEqual({});
      expect(runs).toBeGreaterThanOrEqual(500);
    },
    120_000,
  );
});

test.each(PACK_FOLDERS.filter((folder) => folder !== "mappings"))(
  "npm run fuzz finds no crash and no hang in %s, from its golden cases and its routes",
  async (folder) => {
    setEnv("MAPPINGS_DIR", folder);
    try {
      const { crash, hang, runs } = await fuzz("../../../fuzz/targets/requests.ts", 300);
      expect({ crash, hang }).toEqual({});
      expect(runs).toBeGreaterThanOrEqual(300);
    } finally {
      restoreEnv();
    }
  },
  120_000,
);

describe("the fuzzer itself", () => {
  test("finds a crash by coverage that chance does not find, and keeps the path to it", async () => {
    const { crash, found } = await fuzz("planted-crash.ts", 200_000);
    expect(crash).toMatchObject({
      input: expect.stringMatching(/^de\{E/),
      error: expect.stringContaining("planted"),
    });
    expect(found.some((input) => input.startsWith("de{"))).toBe(true);
  }, 60_000);

  test("reports an input that hangs", async () => {
    const { hang } = await fuzz("planted-hang.ts", 1000, "", { hangMs: 500 });
    expect(hang).toContain("!");
  });

  test("reports an unhandled error with its input", async () => {
    const { crash } = await fuzz("planted-rejection.ts", 10_000);
    expect(crash).toMatchObject({ input: "de", error: expect.stringContaining("planted") });
  });
});
