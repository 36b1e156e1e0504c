import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The folders of `src/` from top to bottom: a file imports only from its own folder and from those below it. */
const ORDER = [
  ".",
  "cli",
  "app",
  "admin",
  "migration-page",
  "tools/trace",
  "tools/parity",
  "tools/replay",
  "tools/types",
  "tools/examples",
  "tools",
  "tools/openapi",
  "tools/migration-report",
  "tools/explain",
  "shadow",
  "oauth",
  "pipeline",
  "notices",
  "rollout",
  "parity",
  "sunset",
  "upstream",
  "observability",
  "audit",
  "auth",
  "rate-limit",
  "storage",
  "clients",
  "operator-files",
  "mapping",
  "jsonata",
  "dialect",
  "sandbox",
  "config",
  "routing",
];

/** The innermost folder of the list that a file lies in. */
const folderOf = (path: string): string =>
  ORDER.filter((folder) => path.startsWith(`${folder}/`)).sort(
    (one, other) => other.length - one.length,
  )[0] ?? ".";

const levelOf = (path: string): number => ORDER.indexOf(folderOf(path));

const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".ts"),
);

test("the list has each folder of src/, and no other", () => {
  const folders = readdirSync("src", { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).filter((name) => !ORDER.includes(name))).toEqual([]);
  expect([...new Set(files.map(folderOf))].sort()).toEqual([...ORDER].sort());
});

test.each(files)("%s imports only from its folder and from those below it", (file) => {
  const imports = [...readFileSync(join("src", file), "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g)].map(
    ([, path = ""]) => relative("src", join("src", dirname(file), path)),
  );
  expect(imports.filter((path) => levelOf(path) < levelOf(file))).toEqual([]);
});

/** The functions of each stage, in the order of the pipeline, and the only files that may import them. */
const STAGES: Readonly<Record<string, readonly string[]>> = {
  authenticate: ["pipeline/pipeline.ts", "migration-page/handlers.ts"],
  matchRoute: ["pipeline/pipeline.ts"],
  consumeRateLimit: [
    "pipeline/pipeline.ts",
    "oauth/handler.ts",
    "app/browser-guards.ts",
    "migration-page/handlers.ts",
  ],
  rejectLimited: [
    "pipeline/pipeline.ts",
    "oauth/handler.ts",
    "app/browser-guards.ts",
    "migration-page/handlers.ts",
  ],
  askPlan: ["pipeline/pipeline.ts"],
  enforcePlan: ["pipeline/pipeline.ts", "oauth/handler.ts"],
  resolveToken: ["pipeline/pipeline.ts", "pipeline/prove-token.ts"],
  authorize: ["pipeline/pipeline.ts"],
  readBody: ["pipeline/pipeline.ts"],
  selectRoute: ["pipeline/pipeline.ts"],
  RESPONSE_KINDS: ["pipeline/pipeline.ts"],
  withLifecycle: [
    "pipeline/pipeline.ts",
    "oauth/handler.ts",
    "app/browser-guards.ts",
    "migration-page/handlers.ts",
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
  const body = source.slice(source.indexOf("return withLifecycle("));
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
  expect(writing).toEqual(["cli/terminal.ts", "observability/log-output.ts"]);
});

test("Express is imported by adapters alone", () => {
  const importing = files.filter((file) =>
    /from "(?:express|helmet|cors|accepts)"/.test(readFileSync(join("src", file), "utf8")),
  );
  const adapters = importing.filter((file) => !/^(?:admin|sandbox|app|pipeline\/http)\//.test(file));
  expect(adapters).toEqual([]);
});
