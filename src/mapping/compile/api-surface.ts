import type { FieldRule } from "../schema/definition.ts";
import type { Diagnostic } from "../load/diagnostic.ts";
import { suggestionFor } from "../load/suggest.ts";
import type { SourceLocation } from "../load/source-location.ts";
import {
  PLAIN_TYPES,
  readType,
  type FieldType,
  type SurfaceDefinition,
} from "../schema/surface-definition.ts";

/** All that the old interface has, apart from what the pack makes of it. */
export interface ApiSurface {
  /** Types of all fields of an object, by its name. */
  readonly objects: ReadonlyMap<string, ReadonlyMap<string, FieldType>>;
  readonly routes: readonly string[];
}

/** `user.keys[].id` is named by a field `user.keys`, which makes the whole of it, and by one for a part of it. */
const covers = (field: string, wanted: string): boolean =>
  field === wanted ||
  [".", "["].some((joint) => wanted.startsWith(field + joint) || field.startsWith(wanted + joint));

/** What decides which path a route answers: names of parameters do not. */
const shapeOf = (route: string): string => route.replaceAll(/:\w+/g, ":");

/** Reads a surface; types of objects that it doesn't have are faults. */
export function compileApiSurface(definition: SurfaceDefinition, location: SourceLocation): ApiSurface {
  const names = [...PLAIN_TYPES, ...Object.keys(definition.objects)];
  const objects = new Map(
    Object.entries(definition.objects).map(([object, fields]) => [
      object,
      new Map(
        Object.entries(fields).map(([field, text]) => {
          const type = readType(text);
          if (!names.includes(type.name))
            location.at("objects", object, field).report({
              message: `unknown type "${type.name}"`,
              hint: suggestionFor(type.name, names),
            });
          return [field, type] as const;
        }),
      ),
    ]),
  );
  return { objects, routes: definition.routes };
}

/** What a surface is held against. */
export interface CoverageInput {
  readonly resources: ReadonlyMap<string, { readonly fields: ReadonlyMap<string, FieldRule> }>;
  readonly routes: readonly { readonly name: string }[];
}

/** What of the surface a pack leaves out. */
export interface CoverageGaps {
  /** Objects that it does not have, and fields that it does not name. */
  readonly unmappedFields: readonly Diagnostic[];
  /** Routes that nothing answers. */
  readonly unmappedRoutes: readonly Diagnostic[];
}

function reportUnmappedFields(
  { objects }: SurfaceDefinition,
  { resources }: CoverageInput,
  location: SourceLocation,
): void {
  for (const [object, fields] of Object.entries(objects)) {
    const at = location.at("objects", object);
    const resource = resources.get(object);
    if (!resource) {
      at.reportKey({
        message: `the pack has no object "${object}"`,
        hint: suggestionFor(object, [...resources.keys()]),
      });
      continue;
    }
    const named = [...resource.fields.keys()];
    for (const field of Object.keys(fields)) {
      if (named.some((each) => covers(each, field))) continue;
      at.at(field).reportKey({
        message: `the pack does not name the field "${field}" of ${object}`,
        hint: `where v4 has none, say what clients get: ${field}: { const: null, loss: "v4 has none" }`,
      });
    }
  }
}

function reportUnmappedRoutes(
  definition: SurfaceDefinition,
  { routes }: CoverageInput,
  location: SourceLocation,
): void {
  const answered = new Set(routes.map(({ name }) => shapeOf(name)));
  definition.routes.forEach((route, index) => {
    if (answered.has(shapeOf(route))) return;
    location.at("routes", index).report({
      message: `no route of the pack answers ${route}`,
      hint: 'where v4 has no such call, say what clients are told: "refuse" names a reason of pack.yaml',
    });
  });
}

/** Holds a pack against a surface; `into` gives the place of the surface's file whose faults go to a list. */
export function findCoverageGaps(
  definition: SurfaceDefinition,
  served: CoverageInput,
  into: (found: Diagnostic[]) => SourceLocation,
): CoverageGaps {
  const gaps = { unmappedFields: [] as Diagnostic[], unmappedRoutes: [] as Diagnostic[] };
  reportUnmappedFields(definition, served, into(gaps.unmappedFields));
  reportUnmappedRoutes(definition, served, into(gaps.unmappedRoutes));
  return gaps;
}
