import { HttpError, type ErrorDetail } from "../errors/http-error.ts";
import { isObject, type SourceLocation } from "../../base/index.ts";
import { fillShape } from "../values/shape.ts";
import { reportUnknownMembers } from "../values/check-schema.ts";
import type { ClientBodiesDefinition } from "./bodies-definition.ts";
import type { WritableMember } from "../fields/write.ts";
import type { BodyDefinition } from "../schema/resource-definition.ts";
import type { JsonObject } from "../translation-context.ts";
import { compileUnwrap, compileUpstreamFormat } from "./body-format.ts";
import { compileBodyForm, compileForms, compileIdCheck } from "./body-forms.ts";
import {
  compilePathMembers,
  compileSentMembers,
  findParts,
  nestedSchema,
  type BodyContext,
  type BodyMember,
  type Part,
  type SentMember,
} from "./body-members.ts";
import { mergeSources } from "./body-merge.ts";
import { compileSchema, validSchema } from "./body-schema.ts";
import { compileFormValues } from "./form-values.ts";
import {
  closeSchema,
  compilePruning,
  mergeSchemas,
  type Schema,
  schemaOf,
} from "../values/schema-members.ts";
import { compileBodyWrite } from "./write-body.ts";

/** The parsed body of a client's request. */
export interface SentJson {
  readonly value: unknown;
  /** Whether all values in it are texts. */
  readonly isForm: boolean;
  /** Whether the request has no body, or the literal `null` as its body. The value is then an empty object. */
  readonly isAbsent?: boolean;
}

/** A compiled body: `unwrap`, `normalise`, `check` and `write` run in this order. */
export type BodyRules = Readonly<ReturnType<typeof compileBody>>;

/**
 * Reads the schema of a body: as written in its file, and the schema of one object with the members of shared parts.
 * Reports members in the schema that can never occur.
 */
function readSchema(definition: BodyDefinition, parts: readonly Part[], location: SourceLocation) {
  const whole = validSchema(definition.schema, location);
  const isList = whole["type"] === "array";
  const ownSchema = isList && isObject(whole["items"]) ? whole["items"] : whole;
  const merged = mergeSchemas(ownSchema, parts);
  reportUnknownMembers(
    { properties: {}, ...ownSchema },
    isList ? location.at("items") : location,
    parts.flatMap(({ schema: { properties } }) => Object.keys(isObject(properties) ? properties : {})),
  );
  return { whole, isList, merged };
}

/** Compiles a function that finds the object or list in a body. It throws {HttpError} 400 if there is none. */
function compileBodyUnwrap(
  client: ClientBodiesDefinition,
  resource: string,
  { whole, isList, merged }: ReturnType<typeof readSchema>,
  location: SourceLocation,
) {
  const unwrap = compileUnwrap(client, resource, location);
  const takesNothing = !isList && Object.keys(schemaOf(merged["properties"])).length === 0;
  const isNothing = (value: unknown): boolean =>
    takesNothing && (value === null || (isObject(value) && Object.keys(value).length === 0));
  const convertList = compileFormValues(whole);
  return ({ value, isForm, isAbsent = false }: SentJson): JsonObject | readonly unknown[] => {
    if (isNothing(value)) return {};
    const object = isAbsent ? value : unwrap(value);
    const body = isList && isForm ? convertList(object) : object;
    if (isList && Array.isArray(body)) return body;
    if (!isList && isObject(body)) return body;
    throw new HttpError(400, `The body must be a JSON ${isList ? "array" : "object"}.`);
  };
}

/** Lists the members of the upstream's body that the gateway itself sends. */
const addedMembers = (definition: BodyDefinition): string[] =>
  Object.keys({
    ...definition.set,
    ...definition.default,
    ...definition.from_path,
    ...definition.from_body,
    ...definition.from_calls,
  });

/** Lists the locations in calls from which a body takes values, and their purposes. */
const callSources = (definition: BodyDefinition) => [
  ...mergeSources(definition).map((path) => ({ path, use: "is merged with" })),
  ...Object.values(definition.from_calls ?? {}).map((path) => ({ path, use: "has" })),
];

/** The names of a resource in the wrappers of both dialects. */
interface WrapperNames {
  readonly client: string;
  readonly upstream: string;
}

/** Compiles how a client's body is read and checked. @param schema the schema of one object */
function compileReading(
  members: readonly SentMember[],
  client: ClientBodiesDefinition,
  { client: name }: WrapperNames,
  schema: Schema,
  bodySchema: ReturnType<typeof readSchema>,
  context: BodyContext,
  location: SourceLocation,
) {
  const { whole, isList } = bodySchema;
  const prune = compilePruning(schema);
  const readForms = compileForms(members, context.id);
  const convertForm = compileFormValues(schema);
  const memberOf = (field: string): BodyMember | undefined =>
    members.find(
      ({ name }) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`),
    );
  const checkIds = compileIdCheck(members, context.id);
  const checkSchema = compileSchema(
    isList ? { ...whole, items: schema } : schema,
    location.at("schema"),
    context.errorIndexes.areKept,
  );
  return {
    /** The client's wrapper as the pack defines it: `$object` is the location of the object. */
    wrapper: fillShape(client.object ?? "$object", { object: "$object", name }),
    unwrap: compileBodyUnwrap(client, name, bodySchema, location.at("client")),
    /** Converts an object to its documented form, and drops members that have no effect. */
    normalise(sent: JsonObject, isForm?: boolean) {
      const { body, faults } = readForms(sent);
      return { body: prune(isForm ? convertForm(body) : body) as JsonObject, faults };
    },
    /** Converts the object of a response to the form that `normalise` produces: ids replace objects. */
    asBody: compileBodyForm(
      members,
      context.id,
      (object) => context.resources.get(object)?.definition.fields,
    ),
    /** Returns the member that the field of an error refers to or is part of. */
    memberOf,
    /** Validates a body against alpha's schema, and returns all errors. */
    check(body: JsonObject | readonly unknown[]): ErrorDetail[] {
      const errors = checkSchema(body);
      const reported = new Set(errors.map(({ field = "" }) => memberOf(field)?.name));
      const withoutId = [body].flat().flatMap((each) => (isObject(each) ? checkIds(each) : []));
      return [...errors, ...withoutId.filter(({ field }) => !reported.has(field))];
    },
  };
}

/** Compiles one body of a resource. @param own Fields and inputs of the resource by alpha name. */
export function compileBody(
  definition: BodyDefinition,
  names: WrapperNames,
  own: ReadonlyMap<string, WritableMember>,
  context: BodyContext,
  location: SourceLocation,
) {
  const parts = findParts(definition, context, location);
  const find = (name: string) =>
    own.get(name) ?? parts.find((part) => part.members.has(name))?.members.get(name);
  const bodySchema = readSchema(definition, parts, location.at("schema"));
  const { isList, merged } = bodySchema;
  const members = compileSentMembers(merged, find, context, location.at("schema"));
  const client = { ...context.dialect.client.bodies, ...definition.client };
  const schema =
    client.unknown === "reject"
      ? closeSchema(merged, (name) => nestedSchema(find(name)?.rule ?? {}, context))
      : merged;
  const writing = compileBodyWrite(definition, members, context, location);
  const toPath = compilePathMembers(definition, members, location);
  if (isList && typeof definition.merge_with === "string")
    location.at("merge_with").report("a body that is a list has no single object to merge with");
  if (isList && definition.from_calls)
    location.at("from_calls").report("no calls are sent before a body that is a list");
  const reading = compileReading(members, client, names, schema, bodySchema, context, location);
  const format = compileUpstreamFormat(
    { ...context.dialect.upstream.bodies, ...definition.upstream },
    names.upstream,
    isList,
    location.at("upstream"),
  );
  return {
    ...reading,
    ...writing,
    /** The schema, merged with the schemas of the shared parts that the body uses. */
    schema,
    /** All members that are sent to v4, with their dotted names. */
    members,
    /** Rules that the schema can't express. */
    checks: definition.checks ?? [],
    /** Members of the upstream's body that the gateway itself sends, always or if the client did not send them. */
    added: addedMembers(definition),
    /** The names of path parameters that are sent in the body. */
    pathParameters: [...Object.values(definition.from_path ?? {}), ...format.pathParameters],
    /** The format of the body for the upstream. */
    format,
    /** Whether bodies are lists. `normalise` and `write` then process an item, and `check` processes the list. */
    isList,
    /** The sources of the values that the body is merged with: the name of a call, and the path in its response. */
    mergeSources: mergeSources(definition),
    callSources: callSources(definition),
    /** Members of the upstream's body whose values are sent in the path, by path parameter. */
    toPath,
  };
}
