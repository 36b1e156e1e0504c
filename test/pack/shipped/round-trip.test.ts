/**
 * Two laws of every field that the pack doesn't declare a loss: what alpha writes is what alpha reads, and what
 * alpha reads may be written back and changes nothing.
 */

import { beforeAll, describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import type { BodyRules } from "../../../src/pack/bodies/body.ts";
import type { FieldRule } from "../../../src/pack/fields/field-definition.ts";
import { compileGetter, compileSetter } from "../../../src/pack/values/member-paths.ts";
import type { CatalogCopy } from "../../../src/pack/translation-context.ts";
import type { Resource } from "../../../src/pack/routes/resource.ts";
import { exampleCatalogs } from "./catalogs.ts";
import { packIn } from "../../support/packs.ts";
import { readObject } from "../../support/read-object.ts";
import { idsOf, ofSchema, tableOf, type Json } from "./values.ts";

const pack = packIn("mappings");
const { id: reference } = pack.dialect.client;
let catalogs: CatalogCopy;
let v4Ids: (catalog: string) => string[];
beforeAll(async () => {
  ({ catalogs, v4Ids } = await exampleCatalogs(pack));
});

interface Writable {
  readonly resource: Resource;
  readonly body: BodyRules;
  readonly field: string;
  readonly rule: FieldRule;
  readonly schema: Json;
}

const schemaAt = (schema: Json, path: string): Json =>
  path
    .split(".")
    .reduce<Json>((found, name) => ((found["properties"] as Json | undefined)?.[name] ?? {}) as Json, schema);

/** Every member of every body that is also a field, and no loss. */
const writable: readonly (readonly [string, Writable])[] = [...pack.resources.values()].flatMap((resource) =>
  [...resource.bodies].flatMap(([name, body]) =>
    body.members
      .filter(({ name: field, rule }) => resource.fields.get(field) === rule && rule.loss === undefined)
      .map(({ name: field, rule }) => {
        const schema = schemaAt(body.schema, field);
        return [`${resource.name}.${field} in "${name}"`, { resource, body, field, rule, schema }] as const;
      }),
  ),
);

/** Where alpha takes several forms for one value: they come back as one of them, and that one as itself. */
const NORMALISED: Readonly<Record<string, string>> = {
  "profile.authorized_keys": "keys are trimmed, and empty ones dropped",
  "grants.vm": "one flag brings the others that its level has",
  "grants.dnszone": "the same",
  "grants.nodebalancer": "the same",
  "grants.stackscript": "the same",
  "config.comments": "null clears them, and is shown as the empty text",
  "ticket.vm_id": "an id may be written as a text",
  "nodebalancer_config.check_passive": "0 and 1 are booleans",
};

/** What v4 makes of a member that it shows in another place. */
const MADE_BY_V4: Readonly<Record<string, (v4: Json) => Json>> = {
  "ticket.vm_id": (v4) => ({ entity: { type: "vm", id: v4["vm_id"] } }),
  "ticket.dnszone_id": (v4) => ({ entity: { type: "domain", id: v4["domain_id"] } }),
  "ticket.nodebalancer_id": (v4) => ({ entity: { type: "nodebalancer", id: v4["nodebalancer_id"] } }),
};

/** @throws {Error} that names a field whose values the pack does not define. */
function valuesOf(name: string, { rule, schema }: Writable): fc.Arbitrary<unknown> {
  const isList = schema["type"] === "array";
  if (rule.catalog !== undefined) {
    const catalog = pack.resources.get(rule.catalog)?.catalog;
    const ids = [...idsOf(pack, rule.catalog, v4Ids(rule.catalog)).values()];
    // Requests can't use ids that alpha only shows.
    const id = fc.constantFrom(...ids.filter((each) => catalog?.v4Id(each, catalogs) !== undefined));
    return isList ? fc.uniqueArray(id) : id;
  }
  const table = tableOf(rule);
  if (table && schema["enum"] === undefined)
    return fc.constantFrom(...[...table.values()].filter((value) => value !== null));
  const values = ofSchema(schema);
  if (!values) throw new Error(`${name}: no values can be generated from ${JSON.stringify(schema)}`);
  return values;
}

/** A body with one member, as v4 gets it. */
async function written({ body, field }: Writable, value: unknown): Promise<Json> {
  const sent: Json = {};
  compileSetter(field)(sent, value);
  const { body: normal } = body.normalise(sent);
  const { v4 } = await body.write(normal, { catalogs, calls: {}, path: {}, client: "192.0.2.1" });
  return v4;
}

const readValue = async ({ resource, field }: Writable, v4: unknown): Promise<unknown> =>
  compileGetter(field)(await readObject(resource, v4, { catalogs, calls: {} }));

/** The value that a client would send for the one it is shown: of an object, its id. */
function asSent(value: unknown, { catalog }: FieldRule): unknown {
  if (catalog === undefined) return value;
  const ids = [value].flat().map((each) => (each as Json | null)?.[reference]);
  return Array.isArray(value) && value.length !== 1 ? ids : ids[0];
}

const isUnused = (value: unknown): boolean => value === null || value === undefined;

describe("a written alpha object reads back the same", () => {
  test.each(writable)("%s", async (name, member) => {
    const { resource, field, rule, schema } = member;
    const fieldName = `${resource.name}.${field}`;
    const through = async (value: unknown) => {
      const v4 = await written(member, value);
      const response = { ...v4, ...MADE_BY_V4[fieldName]?.(v4) };
      const read = asSent(await readValue(member, response), rule);
      return schema["type"] === "array" ? [read].flat() : read;
    };
    await fc.assert(
      fc.asyncProperty(valuesOf(name, member), async (value) => {
        const once = (await through(value)) ?? null;
        const wanted = fieldName in NORMALISED ? await through(once) : value;
        expect(once).toEqual(wanted ?? null);
      }),
      { numRuns: 60 },
    );
  });

  test("most writable fields are tested", () => expect(writable.length).toBeGreaterThan(60));
});

describe("writing back what was read changes nothing", () => {
  test.each(writable)("%s", async (name, member) => {
    await fc.assert(
      fc.asyncProperty(valuesOf(name, member), async (value) => {
        const now = await written(member, value);
        const before = await readValue(member, now);
        const back = asSent(before, member.rule);
        const again = isUnused(back) ? {} : await written(member, back);
        expect(await readValue(member, { ...now, ...again })).toEqual(before);
      }),
      { numRuns: 40 },
    );
  });
});
