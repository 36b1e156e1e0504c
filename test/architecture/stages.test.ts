/** Who calls the stages of the pipeline, who prints, and who knows Express. */
import { expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sourceFiles } from "./source-files.ts";

const files = sourceFiles.map(({ path }) => path);

/** The functions of each stage, in the order of the pipeline, and the only files that may import them. */
const STAGES: Readonly<Record<string, readonly string[]>> = {
  authenticate: ["gateway/pipeline/pipeline.ts", "migration/page/handlers.ts"],
  matchRoute: ["gateway/pipeline/pipeline.ts"],
  consumeRateLimit: [
    "gateway/pipeline/pipeline.ts",
    "gateway/oauth/handler.ts",
    "gateway/http/browser-guards.ts",
    "migration/page/handlers.ts",
  ],
  rejectLimited: [
    "gateway/pipeline/pipeline.ts",
    "gateway/oauth/handler.ts",
    "gateway/http/browser-guards.ts",
    "migration/page/handlers.ts",
  ],
  askPlan: ["gateway/pipeline/pipeline.ts"],
  enforcePlan: ["gateway/pipeline/pipeline.ts", "gateway/oauth/handler.ts"],
  resolveToken: ["gateway/pipeline/pipeline.ts", "gateway/pipeline/prove-token.ts"],
  authorize: ["gateway/pipeline/pipeline.ts"],
  readBody: ["gateway/pipeline/pipeline.ts"],
  selectRoute: ["gateway/pipeline/pipeline.ts"],
  RESPONSE_KINDS: ["gateway/pipeline/pipeline.ts"],
  withLifecycle: [
    "gateway/pipeline/pipeline.ts",
    "gateway/oauth/handler.ts",
    "gateway/http/browser-guards.ts",
    "migration/page/handlers.ts",
  ],
};

/** Names that a file imports from the pipeline's own modules. */
const importedStages = (file: string): string[] =>
  [...readFileSync(join("src", file), "utf8").matchAll(/^import \{([^}]*)\} from "\.[^"]+"/gm)]
    .flatMap(([, names = ""]) => names.split(","))
    .map((name) => name.trim())
    .filter((name) => Object.hasOwn(STAGES, name));

test.each(Object.entries(STAGES))("%s is called by %s alone", (stage, callers) => {
  const importing = files.filter(
    (file) => !file.startsWith("sandbox/") && importedStages(file).includes(stage),
  );
  expect(importing.sort()).toEqual([...callers].sort());
});

test("pipeline.ts imports the stages in their order, and fits a screen", () => {
  const source = readFileSync("src/gateway/pipeline/pipeline.ts", "utf8");
  const body = source.slice(source.indexOf("async function runPipeline("));
  const positions = Object.keys(STAGES)
    .slice(0, -1)
    .map((stage) => body.indexOf(stage));
  expect(positions).toEqual([...positions].sort((one, other) => one - other));
  expect(positions).not.toContain(-1);
  expect(body.split("\n").length).toBeLessThan(80);
});

test("commands and the log print through one function each, which escapes what acts on a terminal", () => {
  const writing = files.filter((file) =>
    /process\.(?:stdout|stderr)\.write|console\.\w+\(/.test(
      readFileSync(join("src", file), "utf8").replaceAll(/^ *\*.*$/gm, ""),
    ),
  );
  expect(writing).toEqual(["app/cli/terminal.ts", "base/log/log-output.ts"]);
});

test("Express is imported by adapters alone", () => {
  const importing = files.filter((file) =>
    /from "(?:express|helmet|cors|accepts)"/.test(readFileSync(join("src", file), "utf8")),
  );
  const adapters = importing.filter(
    (file) => !/^(?:app|console|gateway\/http|sandbox)\/|^migration\/page\/migration-page\.ts$/.test(file),
  );
  expect(adapters).toEqual([]);
});
