/** `check --watch`, which ends by a signal. */
import { expect, test } from "@jest/globals";
import { copyPack } from "../../support/copied-pack.ts";
import { run } from "./program.ts";

test("check --watch checks again after each change, also of a golden case, until a signal", async () => {
  const { folder, change } = copyPack();
  const watching = run(["check", "--watch", folder]);
  await watching.waitForOutput(/examples passed\nWatching /);
  change("book.yaml", "values: state", "values: stat");
  await watching.waitForOutput(/unknown value kind "stat"[^]*\n1 problem\nWatching /);
  change("book.yaml", "values: stat", "values: state");
  change("examples/book/create.yaml", "price: 2.51", "price: 2.52");
  await watching.waitForOutput(/body\.price is 2\.51, expected 2\.52[^]*\n1 problem\nWatching /);
  watching.signal("SIGINT");
  expect((await watching.ended).code).toBe(0);
}, 60_000);
