import { expect, test } from "@jest/globals";
import { loadedWith, packagesOf } from "./loaded-with.ts";

test("the threads of the audit load no package: each would have its own copy in memory", () => {
  const loaded = [...loadedWith(["audit/store/sqlite/thread/worker.ts"])];
  expect(loaded).toContain("audit/store/sql/write-records.ts");
  expect(packagesOf("audit/record/record.ts")).toEqual(["zod"]);
  expect(loaded.flatMap((file) => packagesOf(file).map((name) => `${file} ${name}`))).toEqual([]);
});
