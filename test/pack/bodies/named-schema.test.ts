import { expect, test } from "@jest/globals";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { withPack } from "../load/pack-folder.ts";

test("a named schema validates bodies in the service's product words, and in the next pack too", () => {
  const edit = { file: "book.yaml", from: "required: [shelf]", to: "$id: buying\n      required: [shelf]" };
  const load = () => withPack([edit], (folder) => loadPack(folder, { shelf: "rack" }));
  for (const pack of [load(), load()])
    expect(pack.resources.get("book")?.bodies.get("buy")?.check({})).toEqual([
      { field: "rack", reason: "This field is required.", rule: "required" },
    ]);
});
