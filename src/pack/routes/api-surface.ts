import type { FieldRule } from "../fields/field-definition.ts";
import { type Diagnostic, type SourceLocation, suggestionFor } from "../../base/index.ts";
import { PLAIN_TYPES, readType, type FieldType, type SurfaceDefinition } from "./surface-definition.ts";

/** Everything that the old API has, whether or not the pack maps it. */
export interface ApiSurface {
  /** Types of all fields of an object, by its name. */
  readonly objects: ReadonlyMap<string, ReadonlyMap<string, FieldType>>;
  readonly routes: readonly string[];
  /** The open points: unknown to the author and not mapped by the pack, in the order of the file. */
  readonly openPoints: readonly OpenPoint[];
}

/** A point of `open`: its name, and how much it is used. */
export interface OpenPoint {
  readonly name: string;
  readonly usage: string;
  /** Routes and fields of the surface that it stands for. */
  readonly routes: number;
  readonly fields: number;
}

/** Whether a rule covers a field. `user.keys` covers `user.keys[].id`, and a rule for a part of it covers it too. */
const covers = (field: string, wanted: string): boolean =>
  field === wanted ||
  [".", "["].some((joint) => wanted.startsWith(field + joint) || field.startsWith(wanted + joint));

/** Returns a route without the names of its parameters, which don't matter. */
const shapeOf = (route: string): string => route.replaceAll(/\{\w+\}|(?<=\/):\w+/g, ":");

/** The points of `open` that the pack does not map. One that names nothing of the surface stays until it is deleted. */
function findOpenPoints({ open, objects, routes }: SurfaceDefinition, served: CoverageInput): OpenPoint[] {
  const parts = new Map<string, Omit<OpenPoint, "name" | "usage"> & { readonly isMapped: boolean }>();
  const servedRoutes = new Set(served.routes.map(({ name }) => shapeOf(name)));
  for (const route of routes)
    parts.set(route, { isMapped: servedRoutes.has(shapeOf(route)), routes: 1, fields: 0 });
  for (const [object, fields] of Object.entries(objects)) {
    const mapped = served.resources.get(object)?.fields;
    const named = [...(mapped?.keys() ?? [])];
    parts.set(object, { isMapped: mapped !== undefined, routes: 0, fields: Object.keys(fields).length });
    for (const field of Object.keys(fields)) {
      const isMapped = named.some((each) => covers(each, field));
      parts.set(`${object}.${field}`, { isMapped, routes: 0, fields: 1 });
    }
  }
  return Object.entries(open).flatMap(([name, usage]) => {
    const {
      isMapped,
      routes: routeCount,
      fields,
    } = parts.get(name) ?? { isMapped: false, routes: 0, fields: 0 };
    return isMapped ? [] : [{ name, usage, routes: routeCount, fields }];
  });
}

/** Compiles an API surface. Reports types of unknown objects. */
export function compileApiSurface(
  definition: SurfaceDefinition,
  served: CoverageInput,
  location: SourceLocation,
): ApiSurface {
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
  return { objects, routes: definition.routes, openPoints: findOpenPoints(definition, served) };
}

/** The part of a pack that is compared with its surface. */
export interface CoverageInput {
  readonly resources: ReadonlyMap<string, { readonly fields: ReadonlyMap<string, FieldRule> }>;
  readonly routes: readonly { readonly name: string }[];
}

/** The parts of the surface that a pack does not map, and its parts without a use. */
export interface CoverageGaps {
  /** Unmapped objects and fields. */
  readonly unmappedFields: readonly Diagnostic[];
  /** Routes that the pack does not serve. */
  readonly unmappedRoutes: readonly Diagnostic[];
  /** Definitions of the pack that nothing uses. */
  readonly unused: readonly Diagnostic[];
}

function reportUnmappedFields(
  { objects, open }: SurfaceDefinition,
  { resources }: CoverageInput,
  location: SourceLocation,
): void {
  for (const [object, fields] of Object.entries(objects)) {
    const at = location.at("objects", object);
    const resource = resources.get(object);
    if (!resource) {
      if (Object.hasOwn(open, object)) continue;
      at.reportKey({
        message: `the pack has no object "${object}"`,
        hint: suggestionFor(object, [...resources.keys()]),
      });
      continue;
    }
    const named = [...resource.fields.keys()];
    for (const field of Object.keys(fields)) {
      if (named.some((each) => covers(each, field)) || Object.hasOwn(open, `${object}.${field}`)) continue;
      at.at(field).reportKey({
        message: `the pack does not map the field "${field}" of ${object}`,
        hint: `if the upstream has no such field, declare what clients get: ${field}: { const: null, loss: "the upstream has no such field" }`,
      });
    }
  }
}

function reportUnmappedRoutes(
  definition: SurfaceDefinition,
  { routes }: CoverageInput,
  location: SourceLocation,
): void {
  const served = new Set(routes.map(({ name }) => shapeOf(name)));
  definition.routes.forEach((route, index) => {
    if (served.has(shapeOf(route)) || Object.hasOwn(definition.open, route)) return;
    location.at("routes", index).report({
      message: `the pack has no route for ${route}`,
      hint: 'if the upstream has no such call, add a route with "reject" and a message of pack.yaml, which clients get',
    });
  });
}

/**
 * Finds the parts of a surface that a pack does not map.
 *
 * @param locate Returns a location in the file of the surface that adds diagnostics to the given list.
 */
export function findCoverageGaps(
  definition: SurfaceDefinition,
  served: CoverageInput,
  locate: (diagnostics: Diagnostic[]) => SourceLocation,
): Omit<CoverageGaps, "unused"> {
  const unmappedFields: Diagnostic[] = [];
  const unmappedRoutes: Diagnostic[] = [];
  reportUnmappedFields(definition, served, locate(unmappedFields).with({ code: "unmapped" }));
  reportUnmappedRoutes(definition, served, locate(unmappedRoutes).with({ code: "unmapped" }));
  return { unmappedFields, unmappedRoutes };
}
