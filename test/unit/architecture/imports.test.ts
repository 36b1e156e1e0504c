import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The folders that each folder of `src/` may import, in addition to itself. Imports go only down this list. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ".": ["cli", "app", "tools/replay", "mapping", "config", "observability", "audit", "storage"],
  cli: [
    "tools/replay",
    "tools/openapi",
    "tools/examples",
    "tools",
    "app",
    "sandbox",
    "upstream",
    "admin",
    "tools/migration-report",
    "tools/explain",
    "mapping",
    "jsonata",
    "config",
    "dialect",
    "observability",
    "audit",
  ],
  "tools/replay": ["tools", "upstream", "tools/explain", "mapping", "dialect", "audit"],
  "tools/openapi": ["mapping", "dialect"],
  "tools/examples": ["tools", "upstream", "mapping", "dialect"],
  tools: [
    "app",
    "pipeline",
    "upstream",
    "auth",
    "mapping",
    "jsonata",
    "dialect",
    "pipeline/brown-outs",
    "rate-limit",
  ],
  app: [
    "sandbox",
    "auth/oauth",
    "pipeline",
    "upstream",
    "auth",
    "admin",
    "tools/migration-report",
    "tools/explain",
    "mapping",
    "config",
    "pipeline/brown-outs",
    "dialect",
    "rate-limit",
    "observability",
    "audit",
    "storage",
  ],
  sandbox: ["config", "routing"],
  "auth/oauth": [
    "pipeline",
    "upstream",
    "auth",
    "mapping",
    "dialect",
    "rate-limit",
    "observability",
    "storage",
  ],
  pipeline: [
    "upstream",
    "auth",
    "mapping",
    "jsonata",
    "pipeline/brown-outs",
    "dialect",
    "rate-limit",
    "observability",
    "audit",
    "storage",
  ],
  upstream: ["mapping", "jsonata", "dialect"],
  auth: ["dialect", "storage"],
  admin: ["tools/migration-report", "rate-limit", "observability", "audit"],
  "tools/migration-report": ["tools/explain", "mapping", "dialect", "audit"],
  "tools/explain": ["mapping", "dialect", "audit"],
  mapping: ["jsonata", "config", "dialect", "routing"],
  jsonata: ["dialect"],
  config: ["pipeline/brown-outs"],
  "pipeline/brown-outs": [],
  dialect: [],
  routing: [],
  "rate-limit": ["storage"],
  observability: ["dialect", "audit"],
  audit: ["dialect", "storage"],
  storage: [],
};

/** The innermost folder of the list that a file lies in. */
const folderOf = (path: string): string =>
  Object.keys(MAY_IMPORT)
    .filter((folder) => path.startsWith(`${folder}/`))
    .sort((one, other) => other.length - one.length)[0] ?? ".";

const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".ts"),
);

test("the table of imports has each folder of src/", () => {
  expect([...new Set(files.map(folderOf))].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
});

test.each(files)("%s imports only what the table allows", (file) => {
  const imports = [...readFileSync(join("src", file), "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g)].map(
    ([, path = ""]) => relative("src", join("src", dirname(file), path)),
  );
  const from = folderOf(file);
  const foreign = imports.filter(
    (path) => folderOf(path) !== from && !MAY_IMPORT[from]?.includes(folderOf(path)),
  );
  expect(foreign).toEqual([]);
});

/** The functions of each stage, in the order of the pipeline, and the only files that may import them. */
const STAGES: Readonly<Record<string, readonly string[]>> = {
  authenticate: ["pipeline/pipeline.ts"],
  matchRoute: ["pipeline/pipeline.ts"],
  consumeRateLimit: ["pipeline/pipeline.ts", "auth/oauth/handler.ts", "app/browser-guards.ts"],
  rejectLimited: ["pipeline/pipeline.ts", "auth/oauth/handler.ts", "app/browser-guards.ts"],
  rejectInBrownOut: ["pipeline/pipeline.ts"],
  resolveToken: ["pipeline/pipeline.ts"],
  authorize: ["pipeline/pipeline.ts"],
  readBody: ["pipeline/pipeline.ts"],
  selectRoute: ["pipeline/pipeline.ts"],
  RESPONSE_KINDS: ["pipeline/pipeline.ts"],
  withLifecycle: ["pipeline/pipeline.ts", "auth/oauth/handler.ts", "app/browser-guards.ts"],
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
  const source = readFileSync("src/pipeline/pipeline.ts", "utf8");
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
    /from "(?:express|helmet|cors)"/.test(readFileSync(join("src", file), "utf8")),
  );
  const adapters = importing.filter((file) => !/^(?:admin|sandbox|app|pipeline\/http)\//.test(file));
  expect(adapters).toEqual([]);
});
