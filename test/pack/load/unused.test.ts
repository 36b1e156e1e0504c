/** Definitions of a pack that nothing uses, which `check` reports. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { withPack, type Edit } from "./pack-folder.ts";

const unusedOf = (...edits: readonly Edit[]): readonly string[] =>
  withPack(edits, (folder) =>
    loadPack(folder)
      .gaps()
      .unused.map(({ file, message }) => `${file.slice(folder.length + 1)}: ${message}`),
  );
const dialect = (from: string, to: string): Edit => ({ file: "pack.yaml", from, to });

describe("check reports a definition that nothing uses", () => {
  test.each<[string, Edit, string]>([
    [
      "a value kind",
      dialect("values:\n", "values:\n  other: { same: [a] }\n"),
      'pack.yaml: nothing uses the value kind "other"',
    ],
    [
      "a path parameter",
      dialect("rest: path }", "rest: path, name: text }"),
      'pack.yaml: nothing uses the path parameter "name"',
    ],
    [
      "a path parameter of a resource",
      { file: "tray.yaml", from: "inputs:", to: "path_parameters: { name: text }\n\ninputs:" },
      'tray.yaml: nothing uses the path parameter "name"',
    ],
    [
      "an input",
      { file: "tray.yaml", from: "inputs:", to: "inputs:\n  other: { upstream: other }" },
      'tray.yaml: nothing uses the input "other"',
    ],
    [
      "a call",
      dialect("\ncalls:\n", "\ncalls:\n  other: { upstream: GET /people }\n"),
      'pack.yaml: nothing uses the call "other"',
    ],
    [
      "a part",
      dialect("parts:\n", "parts:\n  other: { inputs: {}, schema: {} }\n"),
      'pack.yaml: nothing uses the part "other"',
    ],
    [
      "a message",
      dialect("No such thing }", "No such thing, other: Not today }"),
      'pack.yaml: nothing uses the message "other"',
    ],
  ])("%s", (_name, edit, message) => expect(unusedOf(edit)).toEqual([message]));

  test("an object that no route shows", () => {
    const other = withPack([], (folder) => {
      writeFileSync(
        join(folder, "other.yaml"),
        "object: other\nfields: { shelf: { upstream: a, object: inner } }\n",
      );
      writeFileSync(join(folder, "inner.yaml"), "object: inner\nfields: { id: id }\n");
      return loadPack(folder)
        .gaps()
        .unused.map(({ message }) => message);
    });
    expect(other).toEqual(['no route uses the object "inner"', 'no route uses the object "other"']);
  });

  test.each([
    [
      "a lookup",
      "fields:\n  number: id\n",
      "fields:\n  number: id\n  word: { read: '$values(\"other\", status)' }\n",
    ],
    [
      "a computed lookup",
      "fields:\n  number: id\n",
      "fields:\n  number: id\n  word: { read: '$values(status, status)' }\n",
    ],
  ])("a value kind of %s is used", (_name, from, to) =>
    expect(
      unusedOf(dialect("values:\n", "values:\n  other: { same: [a] }\n"), { file: "book.yaml", from, to }),
    ).toEqual([]),
  );
});

test.each(["mappings", "examples/payments/pack", "examples/library/pack"])(
  "%s has nothing unused",
  (folder) => expect(loadPack(folder).gaps().unused).toEqual([]),
);
