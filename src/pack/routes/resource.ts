import { compileBody, type BodyRules } from "../bodies/body.ts";
import type { BodyContext } from "../bodies/body-members.ts";
import { compileObjectWrite, compileWrite, type WritableMember } from "../fields/write.ts";
import type { RouteCall } from "../calls/call.ts";
import { SCOPE_VARIABLES } from "../expressions/scope.ts";
import type { FieldRule } from "../fields/field-definition.ts";
import { checkField } from "../fields/keys/field-keys.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import { checkEnvelope } from "../lists/envelopes.ts";
import { compileError } from "../fields/error.ts";
import { compileFilter, compileQueryFields, compileSelectFields } from "../fields/filter-fields.ts";
import { type SourceLocation, suggestionFor } from "../../base/index.ts";
import { lossOf, type Loss } from "../fields/loss.ts";
import { compileRead } from "../fields/read.ts";
import type { Steps, StepsResult } from "../steps.ts";
import type { RouteDefinition } from "../keys/route-keys.ts";

/** One kind of alpha object, with the four translations of its fields (see `fields/field-context.ts`). */
export type Resource = Readonly<StepsResult<typeof compileResource>>;

/** Matches a variable of one request. */
const OF_REQUEST = new RegExp(String.raw`\$(?:${SCOPE_VARIABLES.join("|")})\b`);

/** Reports expressions of a catalog that read a request: catalog objects are translated once for all requests. */
function reportRequestInCatalog(
  name: string,
  { read, loss_when: condition }: FieldRule,
  location: SourceLocation,
): void {
  for (const [key, source] of [
    ["read", read],
    ["loss_when", condition],
  ] as const)
    if (source !== undefined && OF_REQUEST.test(source))
      location
        .at("fields", name, key)
        .report("a catalog has no request: its objects are translated once for all requests");
}

/** Returns the object's name in the upstream's wrappers. */
const upstreamNameOf = ({ object, upstream_object: name = object }: ResourceDefinition): string => name;

/** Compiles the bodies of a resource file. Yields after each of them. */
function* compileBodies(
  definition: ResourceDefinition,
  members: ReadonlyMap<string, WritableMember>,
  context: BodyContext,
  location: SourceLocation,
): Steps<ReadonlyMap<string, BodyRules>> {
  const names = { client: definition.object, upstream: upstreamNameOf(definition) };
  const bodies = new Map<string, BodyRules>();
  const ofBodies = {
    ...context,
    pathParameters: { ...context.pathParameters, ...definition.path_parameters },
    errorNames: definition.error_fields,
  };
  for (const [name, body] of Object.entries(definition.bodies ?? {})) {
    bodies.set(name, compileBody(body, names, members, ofBodies, location.at("bodies", name)));
    yield;
  }
  return bodies;
}

/** Compiles one resource file. Yields after each field and body. */
export function* compileResource(
  definition: ResourceDefinition,
  context: BodyContext,
  location: SourceLocation,
) {
  if (definition.envelope) checkEnvelope(definition.envelope, (side) => location.at("envelope", side));
  const fields = new Map(Object.entries(definition.fields));
  const inputs = new Map(Object.entries(definition.inputs ?? {}));
  for (const name of inputs.keys())
    if (fields.has(name)) location.at("inputs", name).report("this name is a field already");
  const rules = new Map([...fields, ...inputs]);

  for (const [name, rule] of fields) checkField(rule, false, location.at("fields", name));
  if (definition.catalog) for (const [name, rule] of fields) reportRequestInCatalog(name, rule, location);
  const locationOf = (name: string): SourceLocation =>
    location.at(fields.has(name) ? "fields" : "inputs", name).ofField(name);
  const reader = yield* compileRead(fields, inputs, context, locationOf);
  for (const [name, rule] of inputs) checkField(rule, true, location.at("inputs", name));

  const ownMembers = yield* compileWrite(rules, context, locationOf);
  const parts = Object.values(definition.bodies ?? {}).flatMap(({ parts = [] }) =>
    parts.flatMap((name) => context.parts.get(name) ?? []),
  );
  const shared = new Map(parts.flatMap((part) => Object.entries(part.inputs)));
  // Inputs come first: an error contains the member that the client sent, not a field that reads the same v4 member.
  const members = new Map([...shared, ...inputs, ...fields]);

  const bodies = yield* compileBodies(definition, ownMembers, context, location);
  const errorNames = new Map(Object.entries(definition.error_fields ?? {}));
  for (const [v4, name] of errorNames)
    if (![...members.keys()].some((member) => name === member || name.startsWith(`${member}.`)))
      location.at("error_fields", v4).report({
        message: `"${name}" is no field or input of this object`,
        hint: suggestionFor(name, [...members.keys()]),
      });
  const errorField = compileError(members, errorNames, context);
  yield;
  const filterFields = compileFilter(rules, context, locationOf);
  yield;
  const queryFields = compileQueryFields(rules, context);
  yield;
  return {
    name: definition.object,
    /** The object whose fields precede the fields of this one. */
    extends: definition.extends,
    upstreamName: upstreamNameOf(definition),
    list: definition.list,
    /** Name of the array in the upstream's lists. */
    upstreamList: definition.upstream_list ?? definition.list,
    /** The shapes of the resource's responses that differ from the pack's. */
    envelope: definition.envelope,
    catalog: context.catalogs.get(definition.object),
    /** Whether a field comes from the upstream's object. Other fields are constants and results of expressions. */
    readsUpstream: [...fields.values()].some(({ upstream }) => upstream !== undefined),
    ...reader,
    /** Names of the objects whose readers `read` and `append` call. */
    nestedObjects: [...fields.values()].flatMap(({ object }) => object ?? []),
    bodies,
    /** Names of all members that bodies may contain. */
    inputNames: [...members.keys()],
    /** Translates an object of this kind inside an alpha body. */
    writeObject: compileObjectWrite(ownMembers),
    errorField,
    filterFields,
    /** How values of all fields are read from a query. */
    queryFields,
    selectFields: compileSelectFields(fields, context.catalogs.get(definition.object), context),
    /** The possible losses of the resource's own fields, without losses of nested objects. */
    losses: [...fields].flatMap(([name, rule]) => lossOf(name, rule) ?? []),
    fields: fields as ReadonlyMap<string, FieldRule>,
    /** Rules of all members that bodies may contain: inputs and fields. */
    members: members as ReadonlyMap<string, FieldRule>,
  };
}

/** Matches the unchanged value of one call. */
const OF_CALL = /^\s*\$calls\.(\w+)(?:\.\w+)*\s*$/;

/**
 * Returns the possible losses in the translation of an object, including nested objects.
 *
 * @param calls The names of the calls that have values. Objects from other calls never occur. Default: all calls.
 */
export function objectLosses(
  name: string,
  resources: ReadonlyMap<string, Resource>,
  calls?: ReadonlySet<string | undefined>,
  parents: ReadonlySet<string> = new Set(),
): Loss[] {
  const { losses = [], fields = new Map<string, FieldRule>() } = resources.get(name) ?? {};
  const within = new Set([...parents, name]);
  const nested = [...fields].flatMap(([field, { object, read = "" }]) => {
    const [, call] = OF_CALL.exec(read) ?? [];
    if (object === undefined || within.has(object) || (call !== undefined && calls?.has(call) === false))
      return [];
    const inside = objectLosses(object, resources, calls, within);
    return inside.map((loss) => ({ ...loss, text: `${field}.${loss.text}` }));
  });
  return [...losses, ...nested];
}

/** Returns the possible losses of requests and responses of a route. */
export function routeLosses(
  { response }: RouteDefinition,
  responseObjects: readonly string[],
  body: BodyRules | undefined,
  { fields }: Resource,
  resources: ReadonlyMap<string, Resource>,
  calls: readonly Pick<RouteCall, "member">[],
): Loss[] {
  const names = new Set(calls.map(({ member }) => member));
  const shown = response === "none" ? [] : responseObjects;
  // Other members of bodies are fields of the object. Their losses are those of the object, if the response contains it.
  const isOwn = (name: string, { loss_when: condition }: FieldRule): boolean =>
    !fields.has(name) || (shown.length === 0 && condition === undefined);
  const inputs = (body?.members ?? []).filter(({ name, rule }) => isOwn(name, rule));
  return [
    ...shown.flatMap((name) => objectLosses(name, resources, names)),
    ...inputs.flatMap(({ name, rule }) => lossOf(name, rule) ?? []),
  ];
}
