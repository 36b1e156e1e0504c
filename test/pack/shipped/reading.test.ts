/** A law of every object: reading it is a pure function of v4's object, which it does not change. */

import { beforeAll, describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { compileGetter, compileSetter } from "../../../src/pack/values/member-paths.ts";
import type { CatalogCopy } from "../../../src/pack/translation-context.ts";
import { exampleCatalogs } from "./catalogs.ts";
import { packIn } from "../../support/packs.ts";
import { readObject } from "../../support/read-object.ts";
import { v4Values, type Json } from "./values.ts";

const pack = packIn("mappings");
let catalogs: CatalogCopy;
let v4Ids: (catalog: string) => string[];
beforeAll(async () => {
  ({ catalogs, v4Ids } = await exampleCatalogs(pack));
});

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}

const objects = [...pack.resources.values()].filter(({ fields }) => fields.size > 0);

describe("an alpha object depends only on the v4 object", () => {
  test.each(objects.map((resource) => [resource.name, resource] as const))("%s", async (name, resource) => {
    const members = [...resource.fields].flatMap(([field, rule]) => {
      const values = rule.upstream === undefined ? undefined : v4Values(pack, [name, field], rule, v4Ids);
      return values && rule.upstream !== undefined ? [{ field, rule, v4: rule.upstream, values }] : [];
    });
    const plain = members.filter(
      ({ rule: { values: as, catalog, read, object, format, as_array: array } }) =>
        ![as, catalog, read, object, format, array].some((key) => key !== undefined),
    );
    // Null where the pack foresees it.
    const held = members.map(({ values, rule }) => (rule.default === undefined ? values : fc.option(values)));
    const v4 = fc.tuple(...held).map((values) => {
      const object: Json = {};
      members.forEach((member, index) => compileSetter(member.v4)(object, values[index]));
      return frozen(object);
    });
    const law = async (object: Json) => {
      const reading = { catalogs, calls: {} };
      const displayed = await readObject(resource, object, reading);
      expect(await readObject(resource, object, reading)).toEqual(displayed);
      for (const [field] of resource.fields) expect(compileGetter(field)(displayed)).not.toBeUndefined();
      const given = plain.map(({ field, v4: place, rule }) => [
        field,
        compileGetter(place)(object) ?? rule.default ?? null,
      ]);
      expect(plain.map(({ field }) => [field, compileGetter(field)(displayed)])).toEqual(given);
    };
    await fc.assert(fc.asyncProperty(v4, law), { numRuns: 50 });
  });
});
