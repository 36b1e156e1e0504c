import { expect, test } from "vitest";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** What each folder of `src/` may import besides itself. Arrows point one way: down this list. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ".": ["cli", "replay", "mapping", "settings", "audit", "shared-state"],
  cli: [
    "audit",
    "console",
    "replay",
    "report",
    "service",
    "settings",
    "sandbox",
    "description",
    "examples",
    "explain",
    "mapping",
    "expression",
    "dialect",
    "upstream",
    "vocabulary",
  ],
  description: ["mapping", "dialect"],
  examples: ["brown-outs", "service", "gateway", "mapping", "upstream", "tokens", "limits"],
  service: [
    "brown-outs",
    "explain",
    "gateway",
    "oauth",
    "console",
    "report",
    "audit",
    "metrics",
    "mapping",
    "dialect",
    "upstream",
    "tokens",
    "limits",
    "workers",
    "settings",
    "sandbox",
    "shared-state",
    "tracing",
    "files",
  ],
  oauth: ["gateway", "mapping", "dialect", "upstream", "tokens", "limits", "shared-state", "tracing"],
  gateway: [
    "brown-outs",
    "mapping",
    "dialect",
    "expression",
    "upstream",
    "tokens",
    "limits",
    "audit",
    "shared-state",
    "tracing",
  ],
  explain: ["audit", "mapping", "dialect"],
  console: ["report", "audit", "metrics", "limits"],
  report: ["explain", "audit", "mapping", "dialect"],
  replay: ["examples", "explain", "audit", "upstream", "mapping", "dialect"],
  metrics: ["audit"],
  upstream: ["mapping", "dialect", "expression"],
  mapping: ["expression", "dialect", "vocabulary"],
  tokens: ["dialect", "shared-state"],
  expression: ["dialect"],
  "brown-outs": [],
  settings: ["brown-outs", "vocabulary"],
  sandbox: ["vocabulary"],
  audit: ["files"],
  dialect: [],
  workers: ["mapping", "limits", "tokens", "metrics", "shared-state"],
  tracing: [],
  limits: ["shared-state"],
  "shared-state": ["files"],
  files: [],
  vocabulary: [],
};

const folderOf = (path: string): string => (path.includes("/") ? (path.split("/")[0] ?? ".") : ".");

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

test.each(files.filter((file) => folderOf(file) === "gateway"))(
  "%s: stops of the road meet in few places",
  (file) => {
    const imports = [
      ...readFileSync(join("src", file), "utf8").matchAll(/^import (?!type)[^;]*from "\.\/([^"]+)"/gm),
    ];
    const composing = [
      "gateway/road.ts",
      "gateway/ends.ts",
      "gateway/fulfil.ts",
      "gateway/request-out.ts",
      "gateway/listener.ts",
    ];
    const shared = new Set([
      "exchange.ts",
      "work.ts",
      "answer-back.ts",
      "credentials.ts",
      "trace.ts",
      "read-body.ts",
      "translate-query.ts",
      "read-first.ts",
      "call-v4.ts",
      "carry-v4.ts",
      "every-page.ts",
      "hold-end.ts",
      "in-parallel.ts",
      "page-of-rows.ts",
    ]);
    const stops = imports.map(([, name = ""]) => name).filter((name) => !shared.has(name));
    expect(composing.includes(file) ? [] : stops).toEqual([]);
  },
);
