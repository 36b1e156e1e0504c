import { expect, test } from "vitest";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** What each folder of `src/` may import besides itself. Arrows point one way: down this list. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ".": ["cli", "app", "tools/replay", "mapping", "config", "audit", "storage"],
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
  "tools/examples": ["tools", "upstream", "mapping"],
  tools: ["app", "pipeline", "upstream", "auth", "mapping", "pipeline/brown-outs", "rate-limit"],
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
  upstream: ["mapping", "dialect"],
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
  observability: ["audit"],
  audit: ["storage"],
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

test("every folder of src has its place", () => {
  expect([...new Set(files.map(folderOf))].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
});

test.each(files)("%s imports downwards only", (file) => {
  const imports = [...readFileSync(join("src", file), "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g)].map(
    ([, path = ""]) => relative("src", join("src", dirname(file), path)),
  );
  const from = folderOf(file);
  const foreign = imports.filter(
    (path) => folderOf(path) !== from && !MAY_IMPORT[from]?.includes(folderOf(path)),
  );
  expect(foreign).toEqual([]);
});

test.each(files.filter((file) => folderOf(file) === "pipeline"))(
  "%s: stages of the pipeline are composed in few places",
  (file) => {
    const imports = [
      ...readFileSync(join("src", file), "utf8").matchAll(
        /^import (?!type)[^;]*from "\.\.?\/(?:stages\/)?([^"/]+)"/gm,
      ),
    ];
    const composing = [
      "pipeline/pipeline.ts",
      "pipeline/lifecycle.ts",
      "pipeline/execute-route.ts",
      "pipeline/stages/build-request.ts",
      "pipeline/http/request-context.ts",
    ];
    const shared = new Set([
      "context.ts",
      "route-context.ts",
      "build-response.ts",
      "parse-credentials.ts",
      "trace-context.ts",
      "parse-body.ts",
      "translate-query.ts",
      "fetch-prerequisites.ts",
      "call-upstream.ts",
      "file-streamer.ts",
      "fetch-all-pages.ts",
      "delay-response-end.ts",
      "paginate.ts",
    ]);
    const stages = imports.map(([, name = ""]) => name).filter((name) => !shared.has(name));
    expect(composing.includes(file) ? [] : stages).toEqual([]);
  },
);
