import { expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadedWith } from "./loaded-with.ts";

/** The packages that a file of `src/` loads. */
const packagesOf = (file: string): string[] =>
  [
    ...readFileSync(join("src", file), "utf8").matchAll(
      /^import (?!type)[^;]*? from "((?!\.|node:)[^"]+)"/gm,
    ),
  ].map(([, name = ""]) => `${file} ${name}`);

test("the threads of the audit load no package: each would have its own copy in memory", () => {
  const loaded = [...loadedWith(["audit/sqlite/worker.ts"])];
  expect(loaded).toContain("audit/sqlite/writer.ts");
  expect(packagesOf("audit/read-record.ts")).toEqual(["audit/read-record.ts zod"]);
  expect(loaded.flatMap(packagesOf)).toEqual([]);
});
