import { expect, test } from "@jest/globals";
import { faultsOf } from "./pack-folder.ts";

const extend = (from: string, other: string) => ({
  file: `${from}.yaml`,
  from: `object: ${from}\n`,
  to: `object: ${from}\nextends: ${other}\n`,
});

test("an object may extend another", () => expect(faultsOf(extend("book", "shelf"))).toEqual([]));

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
