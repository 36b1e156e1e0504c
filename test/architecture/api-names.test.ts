import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { dottedPath } from "../../src/pack/values/shape.ts";
import { packIn } from "../support/packs.ts";

/** Folders that know no name of either interface: someone with another pair writes a pack and changes no code. */
const ENGINE = ["gateway", "pack", "jsonata", "compare/replay", "migration/report", "base/storage"];

const sources = ENGINE.flatMap((folder) =>
  readdirSync(join("src", folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join("src", folder, name)),
);

/** Names that only this pair of interfaces has: with an underscore, a dash, a colon or a slash in them, or of its things. */
function namesOfThePack(): Set<string> {
  const pack = packIn("mappings");
  const { dialect } = pack;
  const fields = [...pack.resources.values()].flatMap(({ fields: rules, inputNames }) => [
    ...rules.keys(),
    ...inputNames,
    ...[...rules.values()].flatMap(({ upstream = "" }) => [upstream]),
  ]);
  const paths = pack.routes.flatMap(({ name }) => name.split(/[ /]/));
  const words = [
    ...fields.flatMap((name) => [name, ...name.split(".")]),
    ...paths,
    ...Object.entries(dialect.scopes?.resources ?? {}).flat(),
    ...Object.entries(dialect.scopes?.upstream_levels ?? {}).flat(),
    ...[dialect.client, dialect.upstream].flatMap(({ filters }) => [
      filters?.header ?? "",
      ...Object.values(filters?.operators ?? {}).flat(),
    ]),
    ...["page", "pages", "total", "items"].flatMap((name) =>
      [pack.lists.client, pack.lists.upstream].map((shape) => dottedPath(shape, name) ?? ""),
    ),
    ...dialect.secrets.map((name) => name.replaceAll("*", "")),
    dialect.scopes?.header ?? "",
    dialect.upstream.credentials?.scheme ?? "",
    dialect.client.upstream_header ?? "",
    ...Object.values(dialect.client.always_ok ?? {}).flatMap((name) => name ?? []),
    ...Object.values(dialect.messages),
    ...[...pack.resources.values()].flatMap(({ name, list = "" }) => [name, list]),
  ];
  return new Set(words.map((word) => word.toLowerCase()));
}

/** Words of everyday HTTP and OAuth and of the packs' own language, which these interfaces happen to use as well. */
const EVERYDAY = new Set(
  (
    "|get|post|put|delete|username|password|id|type|status|label|data|page|pages|results|size|list|authorization|cookie|object|code|create|read_only|" +
    "not found|and|or|version|description|all|public|events|images|account|current|disk|secret|errors|token|name|read|client|clients|range|title|ipv4|ipv6|grants|scopes|closed|bearer|redirect_uri|state|total|tokens|disk|access|record"
  ).split("|"),
);

const literals = (text: string): string[] =>
  [...text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "").matchAll(/"((?:[^"\\\n]|\\.)*)"|`([^`$]*)`/g)].map(
    ([, double, template]) => (double ?? template ?? "").toLowerCase(),
  );

const names = namesOfThePack();

test("engine code contains no name of alpha or v4", () => {
  const found = sources.flatMap((file) =>
    literals(readFileSync(file, "utf8"))
      .filter((text) => names.has(text) && !EVERYDAY.has(text))
      .map((text) => `${file}: ${text}`),
  );
  expect(found).toEqual([]);
});
