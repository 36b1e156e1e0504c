/** Small packs that tests write: one object and its routes, and what a test says about both sides. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { temporaryFolder } from "./ends-with-test.ts";

/** The files of a pack, as data. */
export interface SmallPack {
  readonly client?: object;
  readonly upstream?: object;
  /** Other keys of `pack.yaml`. */
  readonly pack?: object;
  /** Keys of the resource file. */
  readonly book?: object;
  /** Other resource files, by the names of their objects. */
  readonly others?: Readonly<Record<string, object>>;
}

/** Writes a pack with the object `book` into a new folder, which is removed after the test. @returns the folder */
export function writeSmallPack({
  client = {},
  upstream = {},
  pack = {},
  book = {},
  others = {},
}: SmallPack): string {
  const folder = temporaryFolder();
  const resource = {
    object: "book",
    list: "books",
    fields: { id: "id", title: "name" },
    routes: [{ client: "GET /books/:id", upstream: "GET /items/{id}" }],
    ...book,
  };
  writeFileSync(join(folder, "pack.yaml"), stringify({ format: 2, client, upstream, ...pack }));
  writeFileSync(join(folder, "book.yaml"), stringify(resource));
  for (const [object, keys] of Object.entries(others))
    writeFileSync(join(folder, `${object}.yaml`), stringify({ object, ...keys }));
  return folder;
}
