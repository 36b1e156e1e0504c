/** `check` as authors run it. */
import { expect, test } from "@jest/globals";
import { createCommandRunner } from "../../support/command-output.ts";
import { copyPack } from "../../support/copied-pack.ts";

const run = createCommandRunner();

test("check --update changes golden cases, prints the difference, and then checks", async () => {
  const { folder, change } = copyPack();
  change("examples/book/create.yaml", "price: 2.51", "price: 2.52");
  const { code, out } = await run("check", "--update", folder);
  expect(out).toMatch(/create\.yaml\n- .*price: 2\.52.*\n\+ .*price: 2\.51.*\n\n1 example updated\n/);
  expect(out).toMatch(/examples passed\n$/);
  expect(code).toBe(0);
});

test("check names each expression that the package jsonata runs", async () => {
  const { folder, change } = copyPack();
  const long = `/* ${"long ".repeat(99)}*/ [$name := $calls.loan.reader, $name][0]`;
  change("book.yaml", "'$calls.loan.reader'", `'${long}'`);
  const { out } = await run("check", folder);
  expect(out).toMatch(
    /\nexpressions compiled \d+, interpreted 1\n {2}interpreted: book\.yaml:\d+ \S+: .{119}… \(a variable that is bound inside an expression\)\n/,
  );
});

test("check finds no problem in the included pack, and prints what it covers", async () => {
  const { code, out } = await run("check");

  expect(out).toMatch(
    /^\d+ routes, \d+ objects, \d+ fields\nfields by class: .+\nsurface: \d+ of \d+ routes mapped, (\d+) of \1 fields mapped\n/,
  );
  expect(out).toMatch(/^ {2}POST \/feedback +400 This call has no counterpart/m);
  expect(out).toMatch(
    /\nexpressions compiled \d+, interpreted 0\ngolden cases: (\d+) of \1 routes, .+\n {2}without a golden case: .+\n\d+ examples passed\n$/,
  );
  expect(code).toBe(0);
});
