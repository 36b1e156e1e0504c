/** The pack has all of alpha's surface as data, and matches the reference next to the repository, if that exists. */

import { describe, expect, test } from "vitest";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { loadPack } from "../../../src/mapping/load/load-pack.ts";
import type { SurfaceDefinition } from "../../../src/mapping/schema/surface-definition.ts";
import { faultsOf, withPack } from "./pack-folder.ts";

const SURFACE = `objects:
  book:
    number: integer
    title: string
    blurb: string
    shelf.id: string
    pages[].text: string?
  reader:
    name: string
routes:
  - GET /books/:id
  - GET /pages
`;

const gapsOf = (surface: string) =>
  withPack([], (folder) => {
    writeFileSync(join(folder, "surface.yaml"), surface);
    const { unmappedFields, unmappedRoutes } = loadPack(folder).gaps();
    return [...unmappedFields, ...unmappedRoutes].map(({ line, column, message }) => ({
      line,
      column,
      message,
    }));
  });

describe("a pack is compared with its declared API surface", () => {
  test("unmapped fields and routes are reported with their positions", () => {
    expect(gapsOf(SURFACE)).toEqual([
      { line: 5, column: 5, message: 'the pack does not map the field "blurb" of book' },
      { line: 7, column: 5, message: 'the pack does not map the field "pages[].text" of book' },
      { line: 8, column: 3, message: 'the pack has no object "reader"' },
      { line: 12, column: 5, message: "the pack has no route for GET /pages" },
    ]);
  });

  test("a pack without a surface has no gaps", () =>
    expect(loadPack("test/fixtures/library-pack").gaps()).toEqual({
      unmappedFields: [],
      unmappedRoutes: [],
      unused: [],
    }));

  test.each([
    ["title: string", "title: strng", 'unknown type "strng"; did you mean "string"?'],
    ["title: string", "title: String!", "not a type"],
    ["GET /pages", "SEND /pages", "not METHOD /path"],
  ])("%s as %s is a fault", (from, to, message) => {
    const faults = withPack([], (folder) => {
      writeFileSync(join(folder, "surface.yaml"), SURFACE.replace(from, to));
      try {
        loadPack(folder);
        return "";
      } catch (error) {
        return (error as Error).message;
      }
    });
    expect(faults.replaceAll(/\n {2}hint: /g, "; ")).toContain(message.split("; ")[0]);
    expect(faults).toContain(message.split("; ")[1] ?? "");
  });

  test("the library pack has no gaps", () => expect(faultsOf()).toEqual([]));
});

const REFERENCE = "../shared/reference/alpha.md";
const surface = parse(readFileSync("mappings/surface.yaml", "utf8")) as SurfaceDefinition;

/** The routes in the tables of a text: `| GET, PUT ``/a/:id``, ``/b`` | …`. */
function routesOf(text: string): string[] {
  const rows = [...text.matchAll(/^\| \[(?:doc|known)\] \| ([A-Z, ]+) (`\/[^|]*`) \|/gm)];
  return rows.flatMap(([, methods = "", paths = ""]) =>
    [...paths.matchAll(/`([^`]+)`/g)].flatMap(([, path = ""]) =>
      methods.split(", ").map((method) => `${method.trim()} ${path}`),
    ),
  );
}

/** Dotted names of a JSON value's leaves, as a surface writes them; objects that it has types for end the way. */
function leaves(value: unknown, known: (name: string) => boolean, name = ""): string[] {
  if (known(name)) return [name];
  if (Array.isArray(value) && value.length > 0)
    return value.flatMap((each) => leaves(each, known, `${name}[]`));
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [name];
  return Object.entries(value).flatMap(([key, member]) =>
    leaves(member, known, name ? `${name}.${key}` : key),
  );
}

/** The objects of the reference's JSON examples, in its order. */
const EXAMPLES = (
  "instance type datacenter distribution kernel disk config backup backups ipv4 ipv6 ipv6_pool " +
  "instance_addresses dnszone record event stackscript client token profile settings user grants ticket reply " +
  "nodebalancer nodebalancer_config nodebalancer_node statistics"
).split(" ");

(existsSync(REFERENCE) ? describe : describe.skip)("the surface beside alpha's reference", () => {
  const text = existsSync(REFERENCE) ? readFileSync(REFERENCE, "utf8") : "";
  const objects = text.slice(text.indexOf("## 5. Objects"), text.indexOf("## 6. States"));
  const examples = [...objects.matchAll(/```json\n([^`]+)```/g)].map(([, json = ""]) => JSON.parse(json));

  test("the pack has the routes of the API document", () =>
    expect([...surface.routes].sort()).toEqual(routesOf(text).sort()));

  test("the pack has an object for each example of the API document", () =>
    expect(EXAMPLES).toHaveLength(examples.length));

  test.each(EXAMPLES.map((object, index) => [object, index] as const))(
    "the pack has the fields of %s",
    (object, index) => {
      const fields = surface.objects[object] ?? {};
      const found = new Set(leaves(examples[index], (name) => Object.hasOwn(fields, name)));
      // A list that is empty in the example shows no members.
      const isShown = (field: string) =>
        found.has(field) ||
        [...found].some((shown) => field.startsWith(`${shown}[`)) ||
        fields[field]?.endsWith("?");
      const isKnown = (name: string) =>
        Object.hasOwn(fields, name) || Object.keys(fields).some((field) => field.startsWith(`${name}[`));
      expect([...found].filter((name) => !isKnown(name))).toEqual([]);
      expect(Object.keys(fields).filter((field) => !isShown(field))).toEqual([]);
    },
  );

  test.each(["5.1", "5.2", "5.4", "5.5", "5.6", "5.7", "5.10", "5.11"])(
    "the pack has the fields of table %s",
    (section) => {
      const rest = objects.slice(objects.indexOf(`### ${section} `));
      const table = rest.slice(0, rest.indexOf("```"));
      const written = [...table.matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \|.*\| (?:doc|known) \|/gm)].flatMap(
        ([, cell = ""]) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
      );
      const all = Object.values(surface.objects).flatMap((fields) => Object.keys(fields));
      const missing = written.filter(
        (name) =>
          !all.some((field) => `.${field}.`.includes(name.startsWith(".") ? `${name}.` : `.${name}.`)),
      );
      expect(written.length).toBeGreaterThan(5);
      expect(missing).toEqual([]);
    },
  );
});
