/** The example of a key of a field, in the comment of `field-keys.ts`, is code that works. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "@jest/globals";
import type { FilterPart, ReadStep, WriteStep } from "../../../src/pack/fields/keys/field-key.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";

const KEYS = join(import.meta.dirname, "../../../src/pack/fields/keys");
const urlOf = (path: string): string => pathToFileURL(join(KEYS, path)).href;

/** The exports of `plain-keys.ts` that the example uses. */
const IMPORTS = `
  import { z } from ${JSON.stringify(import.meta.resolve("zod"))};
  import { about } from "${urlOf("../../../base/index.ts")}";
  import { fieldKeys } from "${urlOf("field-key.ts")}";
  import { ofText } from "${urlOf("of-text.ts")}";
`;

interface Family {
  read(rule: object): readonly ReadStep[];
  write(rule: object): WriteStep;
  filter(rule: object): FilterPart;
}

test("the example converts texts in responses, bodies and filters", async () => {
  const comment = readFileSync(join(KEYS, "field-keys.ts"), "utf8");
  const lines = [...comment.matchAll(/^ \* {5}(.*)$|^ \*$/gm)].map(([, code = ""]) => code);
  const file = join(temporaryFolder(), "example.ts");
  writeFileSync(file, [IMPORTS, ...lines].join("\n"));
  const { prefix } = (await import(pathToFileURL(file).href)) as { prefix: Family };

  const rule = { prefix: "vm-" };
  const given = undefined as never;
  const [step] = prefix.read(rule);
  expect(step?.run('"a"', given, given, given, given)).toBe('"vm-a"');
  expect(prefix.write(rule).run(["vm-a", "b"], given, undefined)).toEqual(["a", "b"]);
  expect(prefix.filter(rule).translate?.("vm-a", given)).toEqual(["a"]);
});
