import type { FilterField } from "../../dialect/filter/translate.ts";
import type { SelectFields } from "../../dialect/filter/select.ts";
import { compileBody, type BodyContext, type BodyRules } from "./body.ts";
import type { Catalog } from "./catalog.ts";
import type { FieldRule, ResourceDefinition } from "../schema/definition.ts";
import { compileErrorFields } from "./field/error.ts";
import { compileFilterFields, compileSelectFields } from "./field/filter.ts";
import type { SourceLocation } from "../load/source-location.ts";
import { compileReader } from "./field/read.ts";
import type { AppendFunction, CatalogCopy, CatalogEntry, ReadFunction } from "../translation-context.ts";

/** One kind of alpha object: read from v4, written to v4, filtered by, and blamed in errors. */
export interface Resource {
  readonly name: string;
  /** The object whose fields it has before its own. */
  readonly extends: string | undefined;
  readonly list: string | undefined;
  readonly catalog: Catalog | undefined;
  readonly read: ReadFunction;
  readonly append: AppendFunction;
  /** Whether they may give promises, by themselves; what other objects' readers give is not counted. */
  readonly mayBeAsync: boolean;
  /** Names of the objects whose readers they use. */
  readonly nestedObjects: readonly string[];
  /** The JavaScript that these run as. */
  readonly code: string;
  readonly bodies: ReadonlyMap<string, BodyRules>;
  /** Names of all members that bodies may have. */
  readonly inputNames: readonly string[];
  readonly errorField: (v4: string) => string | undefined;
  readonly filterFields: (copy: CatalogCopy) => ReadonlyMap<string, FilterField>;
  readonly selectFields: SelectFields<CatalogEntry>;
  readonly losses: readonly string[];
  readonly fields: ReadonlyMap<string, FieldRule>;
  /** Rules of all members that bodies may have: what may only be written, and the fields. */
  readonly members: ReadonlyMap<string, FieldRule>;
}

/** What may not stand together in one rule, or does nothing there. */
function ruleFaults(rule: FieldRule, place: SourceLocation): void {
  const sources = [rule.read, rule.const].filter((source) => source !== undefined).length;
  if (sources > 1) place.report('"read" and "const" exclude each other');
  if (rule.v4 === undefined && sources === 0) place.report('a field needs "v4", "read" or "const"');
  if (rule.brief && rule.catalog === undefined)
    place.at("brief").report('"brief" shortens the object of a catalog: "catalog" is missing');
  if (rule.mark !== undefined && !rule.filter)
    place.at("mark").report({ message: 'a "mark" is for filters alone', hint: '"filter: true" is missing' });
  if (rule.args && rule.as === undefined)
    place.at("args").report('"args" are parameters of a value kind: "as" is missing');
}

/** Compiles one resource file. */
export function compileResource(
  definition: ResourceDefinition,
  context: BodyContext,
  place: SourceLocation,
): Resource {
  const fields = new Map(Object.entries(definition.fields));
  const inputs = new Map(Object.entries(definition.inputs ?? {}));
  for (const name of inputs.keys())
    if (fields.has(name)) place.at("inputs", name).report("this name is a field already");
  const rules = new Map([...fields, ...inputs]);

  for (const [name, rule] of fields) ruleFaults(rule, place.at("fields", name));
  const {
    append,
    read,
    code,
    late: mayBeAsync,
  } = compileReader(fields, context, (name) => place.at("fields", name));
  for (const [name, rule] of inputs) ruleFaults(rule, place.at("inputs", name));

  const parts = Object.values(definition.bodies ?? {}).flatMap(({ uses = [] }) =>
    uses.flatMap((name) => context.parts.get(name) ?? []),
  );
  const shared = new Map(parts.flatMap(({ inputs: members }) => Object.entries(members)));
  // What may be written comes first: an error about it names the member that was sent, not one that shows it.
  const all = new Map([...shared, ...inputs, ...fields]);

  return {
    name: definition.object,
    extends: definition.extends,
    list: definition.list,
    catalog: context.catalogs.get(definition.object),
    read,
    append,
    mayBeAsync,
    nestedObjects: [...fields.values()].flatMap(({ object }) => object ?? []),
    code,
    bodies: new Map(
      Object.entries(definition.bodies ?? {}).map(([name, body]) => [
        name,
        compileBody(body, rules, context, place.at("bodies", name)),
      ]),
    ),
    inputNames: [...all.keys()],
    errorField: compileErrorFields(
      [...all].flatMap(([alpha, { v4, as, error }]) =>
        v4 === undefined ? [] : [{ v4, alpha, error: error ?? context.values.get(as ?? "")?.error }],
      ),
    ),
    filterFields: compileFilterFields(rules, context.reference, context, (name) =>
      place.at(fields.has(name) ? "fields" : "inputs", name),
    ),
    selectFields: compileSelectFields(fields, context.catalogs.get(definition.object)),
    losses: [...fields].flatMap(([name, { loss }]) => (loss === undefined ? [] : [`${name}: ${loss}`])),
    fields,
    members: all,
  };
}
