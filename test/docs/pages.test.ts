/** The files, headings, scripts, settings and alerts that the documentation names exist. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";
import { SETTINGS } from "../../src/base/settings/setting-definitions.ts";

const inDocs = readdirSync("docs", { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".md"),
);
const pages = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "mappings/README.md",
  ...inDocs.map((name) => join("docs", name)),
].map((page) => ({ page, text: readFileSync(page, "utf8") }));

/** As GitHub makes the anchor of a heading. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .trim()
    .replaceAll(/\s/g, "-");

const anchorsOf = (text: string): Set<string> =>
  new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchor(heading)));

/** What the pages name by the group of a pattern, and does not exist. */
const missing = (pattern: RegExp, exists: (name: string, page: string) => boolean): string[] =>
  pages.flatMap(({ page, text }) =>
    [...text.matchAll(pattern)].flatMap(([, name = ""]) => (exists(name, page) ? [] : [`${page}: ${name}`])),
  );

test("pages link only to existing files and headings", () => {
  const isThere = (link: string, page: string): boolean => {
    const [path = "", heading] = link.split("#", 2);
    const file = path === "" ? page : join(dirname(page), path);
    return existsSync(file) && (heading === undefined || anchorsOf(readFileSync(file, "utf8")).has(heading));
  };
  expect(missing(/\]\((?!https?:)([^)\s]+)\)/g, isThere)).toEqual([]);
});

test("pages name only existing npm scripts and tests", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: object };
  expect(missing(/\bnpm run (?:-s )?([\w:-]+)/g, (name) => Object.hasOwn(scripts, name))).toEqual([]);
  expect(missing(/npx jest (test\/[\w./-]+)/g, existsSync)).toEqual([]);
});

test("pages name only existing settings", () => {
  const others = /^(?:OTEL|AG)_|^(?:NODE_ENV|NODE_OPTIONS|POSTGRES_PASSWORD|REQUIRED_SERVICES|FC_SEED)$/;
  const isThere = (name: string): boolean => others.test(name) || Object.hasOwn(SETTINGS, name);
  expect(missing(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g, isThere)).toEqual([]);
});

const production = readFileSync("docs/guide/run-in-production.md", "utf8");

test("docs/guide/run-in-production.md has one row for each alert, and no other rows", () => {
  const { groups } = parse(readFileSync("deploy/prometheus/alerts.yaml", "utf8")) as {
    groups: { rules: { alert: string }[] }[];
  };
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  const rows = production.split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap((row) => [...(row.split(" | ")[0] ?? "").matchAll(/`((?=\w*[a-z])[A-Z]\w+)`/g)]);
  expect(new Set(named.map(([, name]) => name))).toEqual(new Set(alerts));
});

test("docs/guide/run-in-production.md names only existing panels of the dashboard", () => {
  const { panels } = JSON.parse(readFileSync("deploy/grafana/alpha-gateway.json", "utf8")) as {
    panels: { title: string }[];
  };
  const titles = new Set(panels.map(({ title }) => title));
  const named = [...production.matchAll(/"([A-Z][^"\n]+)"/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !titles.has(name))).toEqual([]);
});
