import { expect, test } from "@jest/globals";
import { readdirSync } from "node:fs";
import { importsOf, loadedWith } from "./loaded-with.ts";

const TRACE = "jsonata/trace/";

const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".ts"),
);

const inTrace = (paths: Iterable<string>): string[] => [...paths].filter((path) => path.startsWith(TRACE));

test("code that serves requests never loads the traced form of expressions", () => {
  const serving = files.filter((file) => /^(?:app\/(?!cli)|gateway|pack|jsonata\/index)\b/.test(file));
  expect(serving).toContain("app/listeners/public-app.ts");
  expect(loadedWith(["jsonata/compiler/compile.ts"])).toContain("jsonata/compiler/generate.ts");
  expect(inTrace(loadedWith([...serving, "index.ts", "app/cli/serve.ts", "main.ts"]))).toEqual([]);
});

test("only the tools that trace a request import the traced form of expressions", () => {
  const importing = files.filter((file) => !file.startsWith(TRACE) && inTrace(importsOf(file)).length > 0);
  expect(importing.filter((file) => !file.startsWith("authoring/trace/"))).toEqual([]);
});
