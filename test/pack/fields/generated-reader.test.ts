import { expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

const withoutSpace = (code: string): string => code.replaceAll(/\s/g, "");

test("the example in emit-object.ts is the code of its rule", () => {
  const source = readFileSync("src/pack/codegen/emit-object.ts", "utf8");
  const example = [...source.matchAll(/^\/\/ {5}(?!fields:)(.*)$/gm)].map(([, line = ""]) => line).join("");
  expect(source).toContain("//     fields: { vcpus: specs.cores }\n");
  const pack = loadPack(writeSmallPack({ book: { fields: { vcpus: "specs.cores" } } }));
  expect(withoutSpace(pack.resources.get("book")?.code() ?? "")).toContain(withoutSpace(example));
});
