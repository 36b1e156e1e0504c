/** The keys of a field that contains an id of a catalog: clients receive the object, and may send its id. */
import { z } from "zod";
import {
  about,
  isArrayText,
  itemsOf,
  rawTextAt,
  resolveReference,
  type SourceLocation,
} from "../../../base/index.ts";
import { invalidValue, listOrFaults } from "./invalid-write.ts";
import { cacheStubs, type ReadStepFunction } from "./stub-cache.ts";
import { ofText } from "./of-text.ts";
import { has, states } from "../../key-rules.ts";
import { fieldKeys, type CatalogTranslation, type FieldKeyContext, type ReadStep } from "./field-key.ts";
import { textKey } from "../../values/key-schemas.ts";

const UNKNOWN_ID = invalidValue("unknown id");

/** Returns the catalog of a field. Reports a name that the pack does not define. */
const findCatalog = (name: string | undefined, { catalogs }: FieldKeyContext, location: SourceLocation) =>
  name === undefined ? undefined : resolveReference(location.at("catalog"), "catalog", name, catalogs);

/** Creates the step that gives clients only the id. */
const readId = (catalog: CatalogTranslation): ReadStep => ofText((v4Id) => catalog.alphaId(v4Id));

/** Creates the step that gives clients the object. */
function readObject(catalog: CatalogTranslation): ReadStep {
  const { expand, expandAll, cachedText, mayBeAsync, stubMembers: members } = catalog;
  const run: ReadStepFunction = (text, reading, cursor, start, end) =>
    isArrayText(text)
      ? expandAll(itemsOf(text), reading)
      : expand(text, () => rawTextAt(cursor, start, end), reading);
  return {
    run,
    mayBeAsync,
    cachedText,
    ...(members && { expand: { run: cacheStubs(catalog, run), members } }),
  };
}

export const catalog = fieldKeys({
  schemas: {
    catalog: textKey("A catalog. The upstream's value is an id, and the client gets its object.", "shelf"),
    id_only: about(z.boolean().optional(), "The client gets only the id of the catalog's object.", true),
  },
  rules: {
    id_only: [
      states(
        (facts) => !has(facts, "catalog"),
        '"id_only" shortens the object of a catalog: "catalog" is missing',
      ),
    ],
  },
  read({ catalog: name, id_only: isId }, context, location) {
    const found = findCatalog(name, context, location);
    if (!found) return [];
    return [isId ? readId(found) : readObject(found)];
  },
  write({ catalog: name }, context, location) {
    const found = findCatalog(name, context, location);
    if (!found) return undefined;
    return {
      run(value, writing) {
        const idOf = (given: unknown): unknown =>
          typeof given === "string" ? (found.v4Id(given, writing.catalogs) ?? UNKNOWN_ID) : given;
        return Array.isArray(value) ? listOrFaults(value.map(idOf)) : idOf(value);
      },
      needsWhole: false,
    };
  },
  filter({ catalog: name = "" }, { catalogs }) {
    const found = catalogs.get(name);
    if (!found) return {};
    const { hiddenPrefix, renames } = found;
    return {
      translate: (value, copy) => (typeof value === "string" ? found.filterIds(value, copy) : undefined),
      ...(hiddenPrefix !== undefined && { hiddenPrefix }),
      ...(renames && { ordered: false }),
    };
  },
  select({ catalog: name = "" }, { catalogs }) {
    const found = catalogs.get(name);
    if (!found) return {};
    return {
      hasId: true,
      translate(value, copy) {
        const [v4Id] = (typeof value === "string" ? found.filterIds(value, copy) : undefined) ?? [];
        return v4Id === undefined ? undefined : found.alphaId(v4Id);
      },
    };
  },
  classOf: ({ catalog: name }) => (name === undefined ? undefined : "expanded"),
  texts: ({ catalog: name }) =>
    name === undefined
      ? []
      : [
          {
            read: `expanded to the entry of the catalog ${name}`,
            write: `as an id of the catalog ${name}`,
          },
        ],
});
