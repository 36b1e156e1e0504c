/** The text of a mapping file: it is refused with places that exist, or loaded. */
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PackError } from "../../src/mapping/fault.ts";
import { loadPack } from "../../src/mapping/load.ts";
import { hold, type Target } from "../target.ts";

const LIBRARY = "test/fixtures/library-pack";
const read = (name: string): string => readFileSync(join(LIBRARY, name), "utf8");

/** The other files of the pack; as little as they can be, since each run reads them anew. */
const DIALECT = read("pack.yaml")
  .replace(/\nfirst:[^]*?\n(?=parts:)/, "\n")
  .replace(/\nparts:[^]*$/, "\n");
const folder = mkdtempSync(join(tmpdir(), "fuzz-pack-"));
writeFileSync(join(folder, "pack.yaml"), DIALECT);
copyFileSync(join(LIBRARY, "shelf.yaml"), join(folder, "shelf.yaml"));

export const target: Target = {
  name: "pack",
  subject: "The text of a mapping file, loaded",
  covers: ["/src/mapping/", "/src/expression/check.ts", "/src/vocabulary/"],
  longest: 4000,
  seeds: [
    read("book.yaml"),
    "object: book\nlist: books\nfields: { number: id, shelf: { v4: s, catalog: shelf } }\nroutes: []\n",
    "object: book\nfields:\n  a: { read: '$with.x.y', or: null, loss: none }\n",
    "object: book\nfields: { n: id }\nroutes:\n  - { alpha: GET /books/:number, scope: books:look, v4: 'GET /items/{number}', gives: object }\n",
  ],
  dictionary: [
    "fields:",
    "routes:",
    "bodies:",
    "inputs:",
    "- { alpha: GET /x",
    "scope: books:look",
    "v4:",
    "as: state",
    "catalog: shelf",
    "read: '",
    "write: '",
    "loss: x",
    "const: 1",
    "with: {",
    "when: '",
    "&a",
    "*a",
    "<<: ",
    "!!js",
    "{number}",
    ":number",
    "gives: list",
    "body: buy",
    "schema: {",
    "extends: shelf",
    "array:",
    "object:",
  ],
  run(input) {
    writeFileSync(join(folder, "book.yaml"), input);
    try {
      loadPack(folder);
    } catch (error) {
      if (!(error instanceof PackError)) throw error;
      hold("a refusal names its faults", error.faults.length > 0);
      const lines = input.split("\n").length;
      for (const { file, line, column, message } of error.faults) {
        hold(
          "a fault has a place",
          Number.isInteger(line) && Number.isInteger(column) && line >= 1 && column >= 1,
        );
        hold("the place exists", !file.endsWith("book.yaml") || line <= lines + 1);
        hold("a fault says what it is", message !== "");
      }
    }
  },
};
