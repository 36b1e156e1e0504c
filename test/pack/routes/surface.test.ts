/** A pack has all that its surface declares, and alpha's pack declares what alpha has. */

import { describe, expect, test } from "@jest/globals";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { summarizePack } from "../../../src/pack/load/pack-summary.ts";
import type { SurfaceDefinition } from "../../../src/pack/routes/surface-definition.ts";
import { alphaSurface, fieldTypes } from "../../spec/alpha-surface.ts";
import { faultsOf, withPack } from "../load/pack-folder.ts";
import { packIn } from "../../support/packs.ts";

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

  test("an open point is not a problem, and is listed until the pack maps it", () => {
    const open = {
      "GET /pages": "12 calls",
      "GET /books/:id": "9 calls",
      reader: "3 calls",
      "book.blurb": "2 calls",
      "book.title": "2 calls",
      "GET /books: pages": "1 call",
    };
    const surface = `${SURFACE}open: ${JSON.stringify(open)}\n`;
    expect(gapsOf(surface)).toEqual([
      { line: 7, column: 5, message: 'the pack does not map the field "pages[].text" of book' },
    ]);
    const points = withPack([], (folder) => {
      writeFileSync(join(folder, "surface.yaml"), surface);
      return loadPack(folder).surface?.openPoints;
    });
    expect(points).toEqual([
      { name: "GET /pages", usage: "12 calls", routes: 1, fields: 0 },
      { name: "reader", usage: "3 calls", routes: 0, fields: 1 },
      { name: "book.blurb", usage: "2 calls", routes: 0, fields: 1 },
      { name: "GET /books: pages", usage: "1 call", routes: 0, fields: 0 },
    ]);
  });

  test("a pack without a surface has no gaps", () =>
    expect(packIn("examples/library/pack").gaps()).toEqual({
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

const pack = packIn("mappings");
const declared = parse(readFileSync("mappings/surface.yaml", "utf8")) as SurfaceDefinition;
const { routes, objects, values } = alphaSurface;

/** The values that clients see of a value kind. */
function clientValues(kind: string): Set<unknown> {
  const { same = [], read, otherwise } = pack.dialect.values[kind] ?? {};
  const words = typeof read === "object" ? read.map(([, word]) => word) : [];
  return new Set([...same, ...words, otherwise].filter((value) => value != null));
}

/** The names of path parameters don't matter. */
const withoutNames = (route: string): string => route.replaceAll(/:\w+/g, ":");

describe("alpha's surface in the pack", () => {
  test("A-110 to A-117 has alpha's routes", () =>
    expect(declared.routes.map(withoutNames).sort()).toEqual(Object.keys(routes).map(withoutNames).sort()));

  test("A-109 to A-117 has the scope and the list name of each route", () => {
    const compiled = new Map(
      summarizePack(pack).routes.map(({ alpha, scope }) => [
        withoutNames(alpha.replace(" /v4/", " /")),
        scope,
      ]),
    );
    const scopes = Object.keys(routes).map((route) => [route, compiled.get(withoutNames(route))]);
    expect(scopes).toEqual(Object.entries(routes).map(([route, { scope }]) => [route, scope]));

    const lists = new Map(
      pack.routes.map(({ name, response, list }) => [
        withoutNames(name),
        response === "list" ? list : undefined,
      ]),
    );
    const names = Object.keys(routes).map((route) => [route, lists.get(withoutNames(route))]);
    expect(names).toEqual(Object.entries(routes).map(([route, { list }]) => [route, list]));
  });

  test("has alpha's objects", () =>
    expect(Object.keys(declared.objects).sort()).toEqual(Object.keys(objects).sort()));

  test.each(Object.entries(objects))("has the fields of %s with their types", (name, shape) => {
    const fields = Object.entries(declared.objects[name] ?? {});
    const types = Object.fromEntries(fields.map(([field, type]) => [field, type.replace(" | null", "")]));
    expect(types).toEqual(fieldTypes(shape));
  });

  test.each([
    ["A-157 to A-163", "event action", "event_action"],
    ["A-032", "datacenter id", "datacenter_id"],
  ])("%s has each %s and no other", (_ids, name, kind) =>
    expect(clientValues(kind)).toEqual(new Set(values[name])),
  );

  test.each([
    ["A-102", "instance status", "vm_status"],
    ["A-103", "disk status", "disk_status"],
    ["A-105", "backup status", "backup_status"],
    ["A-106", "backup type", "backup_type"],
    ["A-108", "zone status", "zone_status"],
  ])("%s has no other %s", (_ids, name, kind) =>
    expect([...clientValues(kind)].filter((value) => !values[name]?.includes(value as string))).toEqual([]),
  );
});
