/** The generated parts of `docs/reference/` are those of today's code. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { createCommandLine } from "../../src/app/cli/program.ts";
import { SETTING_SECTIONS } from "../../src/base/settings/setting-definitions.ts";
import { PAGES, partsOf, withParts } from "./reference.ts";

test.each(PAGES)("%s is what the code says: npm run docs", async (path) => {
  const page = readFileSync(path, "utf8");
  expect(partsOf(page).length).toBeGreaterThan(0);
  expect(page).toBe(await withParts(page));
});

describe("the reference has", () => {
  const parts = PAGES.flatMap((path) => partsOf(readFileSync(path, "utf8")));

  test("each section of settings", () =>
    expect(parts).toEqual(
      expect.arrayContaining(Object.keys(SETTING_SECTIONS).map((section) => `settings ${section}`)),
    ));

  test("each command", async () => {
    const { commands } = await createCommandLine(() => {});
    expect(parts).toEqual(expect.arrayContaining(commands.map((each) => `command ${each.name()}`)));
  });
});
