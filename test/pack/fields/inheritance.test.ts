import { expect, test } from "@jest/globals";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { faultsOf, withPack } from "../load/pack-folder.ts";

const extend = (from: string, other: string) => ({
  file: `${from}.yaml`,
  from: `object: ${from}\n`,
  to: `object: ${from}\nextends: ${other}\n`,
});

test("an object may extend another", () => expect(faultsOf(extend("book", "shelf"))).toEqual([]));

test("an object that extends another one needs no own fields", () =>
  withPack([], (folder) => {
    writeFileSync(join(folder, "note.yaml"), "object: note\nextends: book\n");
    const fields = (object: string) => [...(loadPack(folder).resources.get(object)?.fields.keys() ?? [])];
    expect(fields("note")).toEqual(fields("book"));
  }));

test("an object without fields that extends none is reported", () =>
  withPack([], (folder) => {
    writeFileSync(join(folder, "note.yaml"), "object: note\n");
    expect(() => loadPack(folder)).toThrow('the key "fields" is missing');
  }));

test.each([
  [
    "one that does not exist",
    [extend("book", "shelve")],
    'unknown object "shelve"; did you mean "shelf"? there are: book, shelf',
  ],
  [
    "one that extends another itself",
    [extend("book", "shelf"), extend("shelf", "book")],
    '"shelf" extends another object itself',
  ],
])("an object can't extend %s", (_what, edits, message) => {
  const [fault] = faultsOf(...edits);
  expect(fault).toMatchObject({ file: "book.yaml", line: 3, message: expect.stringContaining(message) });
});
