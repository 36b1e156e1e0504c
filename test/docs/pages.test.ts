/** The files, commands, settings, alerts and reasons that each page of the documentation names exist. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { SETTINGS } from "../../src/base/settings/setting-definitions.ts";

const pages = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "mappings/README.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" }).flatMap((name) =>
    name.endsWith(".md") ? [join("docs", name)] : [],
  ),
];

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };

/** As GitHub makes the anchor of a heading. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .trim()
    .replaceAll(/\s/g, "-");

const anchorsOf = (text: string): Set<string> =>
  new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchor(heading)));

describe.each(pages)("%s", (page) => {
  const text = readFileSync(page, "utf8");

  test("links only to existing files and headings", () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = ""]) => link);
    const broken = links.filter((link) => {
      const [path = "", heading] = link.split("#", 2);
      const file = path === "" ? page : join(dirname(page), path);
      if (!existsSync(file)) return true;
      return heading !== undefined && !anchorsOf(readFileSync(file, "utf8")).has(heading);
    });
    expect(broken).toEqual([]);
  });

  test("names only existing npm scripts", () => {
    const named = [...text.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  test("names only existing test files", () => {
    const named = [...text.matchAll(/npx jest (test\/[\w./-]+)/g)].map(([, path = ""]) => path);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });

  test("names only existing settings", () => {
    const named = [...text.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)].map(
      ([, name = ""]) => name,
    );
    const others = /^(?:OTEL|AG)_|^(?:NODE_ENV|NODE_OPTIONS|POSTGRES_PASSWORD|REQUIRED_SERVICES|FC_SEED)$/;
    expect(named.filter((name) => !others.test(name) && !Object.hasOwn(SETTINGS, name))).toEqual([]);
  });
});

describe("docs/guide/run-in-production.md", () => {
  const text = readFileSync("docs/guide/run-in-production.md", "utf8");

  test("has one row for each alert, and no other rows", () => {
    const { groups } = parse(readFileSync("deploy/prometheus/alerts.yaml", "utf8")) as {
      groups: { rules: { alert: string }[] }[];
    };
    const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
    const rows = text.split("\n").filter((line) => line.startsWith("| `"));
    const named = rows.flatMap((row) => [
      ...(row.split(" | ")[0] ?? "").matchAll(/`((?=\w*[a-z])[A-Z]\w+)`/g),
    ]);
    expect(new Set(named.map(([, name]) => name))).toEqual(new Set(alerts));
  });

  test("names only existing panels of the dashboard", () => {
    const { panels } = JSON.parse(readFileSync("deploy/grafana/alpha-gateway.json", "utf8")) as {
      panels: { title: string }[];
    };
    const titles = new Set(panels.map(({ title }) => title));
    const named = [...text.matchAll(/"([A-Z][^"\n]+)"/g)].map(([, name = ""]) => name);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !titles.has(name))).toEqual([]);
  });
});

test("docs/results/capacity.md has the rows that its command prints", () => {
  const text = readFileSync("docs/results/capacity.md", "utf8");
  const names = [...readFileSync("bench/capacity.ts", "utf8").matchAll(/name: "( {2}[^"]+)"/g)].map(
    ([, name = ""]) => name.trim(),
  );
  expect(names.length).toBeGreaterThan(3);
  expect(names.filter((name) => !text.includes(name))).toEqual([]);
});
