/** Writes the files of a draft. */
import { isParameter, type ApiDescription, type Field } from "./api-description.ts";
import {
  clientPath,
  isPlainName,
  type CountUses,
  packRoute,
  upstreamPath,
  type Draft,
  type DraftBody,
  type DraftResource,
  type DraftRoute,
  type OpenPoint,
} from "./draft-model.ts";
import { listNameOf, shapeOf, usualShapes, type Shapes } from "./draft-shapes.ts";
import { makeDraft } from "./draft.ts";
import type { FieldPair } from "./match-fields.ts";
import type { NewFile } from "./new-pack.ts";
import { usesText } from "./open-points.ts";
import { inline, key, MAX_COMMENT, reasonOf, scalar } from "./draft-text.ts";

function sideLines(name: string, side: ApiDescription, shapes: Shapes): string[] {
  return [
    `  name: ${name}`,
    ...(side.basePath === "" ? [] : [`  base_path: ${scalar(side.basePath)}`]),
    ...(side.credentials ? [`  credentials: ${inline(side.credentials)}`] : []),
    `  responses: { list: ${shapes.list}, object: ${shapes.object} }`,
  ];
}

function packFile({ draft: { old, now, resources }, shapes }: Writing): string {
  const parameters = new Set(
    resources
      .flatMap(({ routes }) => routes.flatMap(({ pair }) => pair.old.segments.filter(isParameter)))
      .map((segment) => segment.slice(1, -1)),
  );
  return [
    "# yaml-language-server: $schema=.vscode/pack.schema.json",
    "# A draft from two OpenAPI documents: what both APIs have everywhere. `check` lists the open points.",
    "format: 2",
    "",
    "client:",
    ...sideLines("old", old, shapes.old),
    ...(parameters.size === 0
      ? []
      : [`  path_parameters: { ${[...parameters].map((name) => `${key(name)}: text`).join(", ")} }`]),
    "",
    "upstream:",
    ...sideLines("new", now, shapes.now),
    "",
  ].join("\n");
}

/** The schema of a member of a body. */
function memberSchema({ place, isList }: Field): Record<string, unknown> {
  const types = [...place.types].filter((type) =>
    /^(?:string|number|integer|boolean|array|object|null)$/.test(type),
  );
  const words = place.words && !isList ? [...place.words].slice(0, 500) : undefined;
  return {
    ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }),
    ...(words && types.includes("string") && { enum: [...words, ...(types.includes("null") ? [null] : [])] }),
  };
}

interface ObjectSchema {
  readonly type: "object";
  readonly properties: Record<string, unknown>;
}

/** Returns the schema of a body with the known members. */
function bodySchema({ members }: DraftBody): ObjectSchema {
  const schema: ObjectSchema = { type: "object", properties: {} };
  for (const member of members) {
    const parts = member.name.split(".");
    let { properties } = schema;
    for (const part of parts.slice(0, -1)) {
      const inner = (properties[part] ??= { type: "object", properties: {} }) as ObjectSchema;
      ({ properties } = inner);
    }
    properties[parts.at(-1) ?? member.name] = memberSchema(member);
  }
  return schema;
}

/** The common state of the files of a draft. */
interface Writing {
  readonly draft: Draft;
  readonly shapes: Readonly<Record<"old" | "now", Shapes>>;
}

/** The names of both sides in a pack, and in a draft. */
const SIDES = [
  ["client", "old"],
  ["upstream", "now"],
] as const;

/** Returns the shapes of a route that differ from the usual ones. */
function envelopeLines({ pair }: DraftRoute, { routes }: DraftResource, { shapes }: Writing): string[] {
  const kind = pair.old.payload.isList ? "list" : "object";
  const sides = SIDES.flatMap(([name, side]) => {
    const { payload } = pair[side];
    const isSameKind = payload.object !== undefined && payload.isList === pair.old.payload.isList;
    const shape = isSameKind
      ? shapeOf(pair[side], listNameOf(routes, side))
      : inline(kind === "list" ? "$items" : "$object");
    return shape === shapes[side][kind] ? [] : [`${name}: { ${kind}: ${shape} }`];
  });
  return sides.length === 0 ? [] : [`    envelope: { ${sides.join(", ")} }`];
}

/** Returns the schema of a route's body as text; undefined if none of its members is known. */
const schemaOf = ({ body }: DraftRoute): string | undefined =>
  body && body.members.length > 0 ? inline(bodySchema(body)) : undefined;

/** Returns the lines of a route. @param bodies The schemas of bodies: routes with the same members share one */
function routeLines(
  route: DraftRoute,
  resource: DraftResource,
  bodies: readonly string[],
  writing: Writing,
): string[] {
  const { pair } = route;
  const { old, now } = pair;
  const hasObject = old.payload.object !== undefined && old.status !== 204;
  const response = !hasObject ? "none" : old.payload.isList ? "list" : "object";
  const body = bodies.indexOf(schemaOf(route) ?? "");
  return [
    `  ${reasonOf(pair)}`,
    `  - client: ${inline(packRoute(old))}`,
    ...(writing.draft.old.credentials ? [`    scope: ${old.needsToken ? "token" : "public"}`] : []),
    `    upstream: ${inline(`${now.method} ${upstreamPath(pair) ?? clientPath(now.path)}`)}`,
    `    response: ${response}`,
    ...(old.status === 200 ? [] : [`    status: ${old.status}`]),
    ...(body < 0 ? [] : [`    body: body_${body + 1}`]),
    ...(hasObject ? envelopeLines(route, resource, writing) : []),
  ];
}

/** Returns the line of a field or an input; empty for a field whose object is missing in the draft. */
function fieldLines(pair: FieldPair, { names, resources }: Draft): string[] {
  const { old, now } = pair;
  const object = old.object && names.get(old.object);
  if (old.object && !resources.some(({ name }) => name === object)) return [];
  const rule =
    object === undefined ? inline(now.name) : `{ upstream: ${inline(now.name)}, object: ${scalar(object)} }`;
  return [`  ${key(old.name)}: ${rule} ${reasonOf(pair)}`];
}

/** Returns a key and the lines below it; nothing if there are no lines. */
const section = (name: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ["", `${name}:`, ...lines];

function resourceFile(resource: DraftResource, writing: Writing): string {
  const { name, routes, fields } = resource;
  const { draft } = writing;
  const [list, upstreamList] = [listNameOf(routes, "old"), listNameOf(routes, "now")];
  const hasList = routes.some(({ pair }) => pair.old.payload.isList);
  const bodies = [...new Set(routes.flatMap((route) => schemaOf(route) ?? []))];
  const inputs = new Map(
    routes.flatMap(({ body }) => (body?.inputs ?? []).map((pair) => [pair.old.name, pair] as const)),
  );
  const lines = fields.flatMap((pair) => fieldLines(pair, draft));
  return [
    "# yaml-language-server: $schema=.vscode/resource.schema.json",
    `object: ${key(name)}`,
    ...(list === undefined ? [] : [`list: ${inline(list)}`]),
    ...(list === undefined && hasList ? [`list: ${key(name)}`] : []),
    ...(upstreamList === undefined ? [] : [`upstream_list: ${inline(upstreamList)}`]),
    ...(lines.length === 0 ? ["", "fields: {}"] : section("fields", lines)),
    ...section(
      "inputs",
      [...inputs.values()].flatMap((pair) => fieldLines(pair, draft)),
    ),
    ...section(
      "bodies",
      bodies.map((schema, index) => `  body_${index + 1}: { schema: ${schema} }`),
    ),
    ...section(
      "routes",
      routes.flatMap((route) => routeLines(route, resource, bodies, writing)),
    ),
    "",
  ].join("\n");
}

/** Returns the type of a field, as in `surface.yaml`. */
function typeText({ place, object, isList }: Field, names: Draft["names"]): string {
  const of = isList ? place.items : place.types;
  const types = [...of].filter((type) => type !== "null");
  const plain =
    types.length === 1 && /^(?:string|number|integer|boolean|object)$/.test(types[0] ?? "")
      ? types[0]
      : "any";
  const name = (object && names.get(object)) ?? plain ?? "any";
  return `${name}${isList ? "[]" : ""}${place.types.has("null") ? " | null" : ""}`;
}

/** Returns the points by name, without long names. If a name occurs several times, the first point is used. */
const namePoints = (points: Draft["openPoints"]): ReadonlyMap<string, OpenPoint> =>
  new Map(points.toReversed().map((point) => [point.name.slice(0, MAX_COMMENT), point]));

function surfaceFile({ old, names, openPoints }: Draft, isCounted: boolean): string {
  const objects = [...names].flatMap(([object, name]) => {
    const fields = [...object.fields.values()].filter((field) => isPlainName(field.name));
    return [
      fields.length === 0 ? `  ${key(name)}: {}` : `  ${key(name)}:`,
      ...fields.map((field) => `    ${key(field.name)}: ${inline(typeText(field, names))}`),
    ];
  });
  const open = [...namePoints(openPoints)].toReversed();
  return [
    "# yaml-language-server: $schema=.vscode/surface.schema.json",
    "# Everything that the old API has. `open`: the open points of the draft, most-used first. `check` lists the parts that are not mapped yet.",
    objects.length === 0 ? "objects: {}" : "objects:",
    ...objects,
    "",
    "routes:",
    ...old.routes.map((route) => `  - ${inline(packRoute(route))}`),
    "",
    open.length === 0 ? "open: {}" : "open:",
    ...open.map(([name, point]) => `  ${inline(name)}: ${inline(usesText(point, isCounted))}`),
    "",
  ].join("\n");
}

/** The files of a draft of a pack for two APIs. @param countUses Returns how often a route is used. Undefined: unknown */
export function draftFiles(old: ApiDescription, now: ApiDescription, countUses: CountUses): NewFile[] {
  const draft = makeDraft(old, now, countUses);
  const { resources } = draft;
  const shapes = { old: usualShapes(resources, "old"), now: usualShapes(resources, "now") };
  return [
    ["pack.yaml", packFile({ draft, shapes })],
    ["surface.yaml", surfaceFile(draft, countUses !== undefined)],
    ...resources.map((each): NewFile => [`${each.name}.yaml`, resourceFile(each, { draft, shapes })]),
  ];
}
