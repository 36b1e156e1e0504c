import type { FieldRule } from "../fields/field-definition.ts";
import { type Diagnostic, type Message, type SourceLocation, suggestionFor } from "../../base/index.ts";
import { PLAIN_TYPES, readType, type FieldType, type SurfaceDefinition } from "./surface-definition.ts";

/** Everything that the old API contains, whether or not the pack maps it. */
export type ApiSurface = ReturnType<typeof compileApiSurface>;

/** Whether a rule covers a field. `user.keys` covers `user.keys[].id`, and a rule for a part of a field covers the field. */
const covers = (field: string, wanted: string): boolean =>
  field === wanted ||
  [".", "["].some((joint) => wanted.startsWith(field + joint) || field.startsWith(wanted + joint));

/** Returns a route without the names of its parameters, which are irrelevant. */
const shapeOf = (route: string): string => route.replaceAll(/\{\w+\}|(?<=\/):\w+/g, ":");

/** A part of a surface: a route, an object or a field. */
interface SurfacePart {
  /** The name in the list `open`. */
  readonly name: string;
  readonly path: readonly (string | number)[];
  readonly isMapped: boolean;
  /** Number of routes and fields that the part counts as. */
  readonly routes: number;
  readonly fields: number;
  /** The problem if the pack does not map the part. Undefined for fields of an object that is not mapped. */
  readonly problem: Message | undefined;
}

/** Returns all parts of a surface in the order of its file. */
function* partsOf(
  { objects, routes }: SurfaceDefinition,
  { resources, routes: servedRoutes }: CoverageInput,
): Generator<SurfacePart> {
  for (const [object, fields] of Object.entries(objects)) {
    const path = ["objects", object];
    const mapped = resources.get(object);
    const problem = {
      message: `the pack has no object "${object}"`,
      hint: suggestionFor(object, [...resources.keys()]),
    };
    const count = Object.keys(fields).length;
    yield { name: object, path, isMapped: mapped !== undefined, routes: 0, fields: count, problem };
    const named = [...(mapped?.fields.keys() ?? [])];
    for (const field of Object.keys(fields))
      yield {
        name: `${object}.${field}`,
        path: [...path, field],
        isMapped: named.some((each) => covers(each, field)),
        routes: 0,
        fields: 1,
        problem: mapped && {
          message: `the pack does not map the field "${field}" of ${object}`,
          hint: `if the upstream has no such field, declare what clients get: ${field}: { const: null, loss: "the upstream has no such field" }`,
        },
      };
  }
  const served = new Set(servedRoutes.map(({ name }) => shapeOf(name)));
  for (const [index, route] of routes.entries())
    yield {
      name: route,
      path: ["routes", index],
      isMapped: served.has(shapeOf(route)),
      routes: 1,
      fields: 0,
      problem: {
        message: `the pack has no route for ${route}`,
        hint: 'if the upstream has no such call, add a route with "reject" and a message of pack.yaml, which clients get',
      },
    };
}

/** The points of `open` that the pack does not map. A point that names no part of the surface stays until it is deleted. */
function findOpenPoints(definition: SurfaceDefinition, served: CoverageInput) {
  const parts = new Map([...partsOf(definition, served)].map((part) => [part.name, part]));
  return Object.entries(definition.open).flatMap(([name, usage]) => {
    const { isMapped = false, routes = 0, fields = 0 } = parts.get(name) ?? {};
    // Includes the usage, and the number of affected routes and fields.
    return isMapped ? [] : [{ name, usage, routes, fields }];
  });
}

/** Compiles an API surface. Reports types of unknown objects. */
export function compileApiSurface(
  definition: SurfaceDefinition,
  served: CoverageInput,
  location: SourceLocation,
) {
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
  return {
    /** The types of all fields of an object, by the object's name. */
    objects: objects as ReadonlyMap<string, ReadonlyMap<string, FieldType>>,
    routes: definition.routes,
    /** The open points: unknown to the author and not mapped by the pack, in the order of the file. */
    openPoints: findOpenPoints(definition, served),
  };
}

/** The part of a pack that is compared with its surface. */
interface CoverageInput {
  readonly resources: ReadonlyMap<string, { readonly fields: ReadonlyMap<string, FieldRule> }>;
  readonly routes: readonly { readonly name: string }[];
}

/** The parts of the surface that a pack does not map, and the pack's unused definitions. */
export interface CoverageGaps {
  /** Objects and fields that the pack does not map. */
  readonly unmappedFields: readonly Diagnostic[];
  /** Routes that the pack does not serve. */
  readonly unmappedRoutes: readonly Diagnostic[];
  /** Definitions of the pack that are not used. */
  readonly unused: readonly Diagnostic[];
}

/**
 * Finds the parts of a surface that a pack does not map.
 *
 * @param locate Returns a location in the surface's file. It adds diagnostics to the given list.
 */
export function findCoverageGaps(
  definition: SurfaceDefinition,
  served: CoverageInput,
  locate: (diagnostics: Diagnostic[]) => SourceLocation,
): Omit<CoverageGaps, "unused"> {
  const unmappedFields: Diagnostic[] = [];
  const unmappedRoutes: Diagnostic[] = [];
  for (const { name, path, isMapped, routes, problem } of partsOf(definition, served)) {
    if (isMapped || !problem || Object.hasOwn(definition.open, name)) continue;
    const at = locate(routes > 0 ? unmappedRoutes : unmappedFields).with({ code: "unmapped" });
    if (routes > 0) at.at(...path).report(problem);
    else at.at(...path).reportKey(problem);
  }
  return { unmappedFields, unmappedRoutes };
}
