import { HttpError, type ErrorDetail } from "../errors/http-error.ts";
import { isObject, type SourceLocation } from "../../base/index.ts";
import { fillShape, type Shape } from "../values/shape.ts";
import { reportUnknownMembers } from "../values/check-schema.ts";
import type { ClientBodiesDefinition } from "./bodies-definition.ts";
import type { FieldRule } from "../fields/field-definition.ts";
import type { WritableMember } from "../fields/write.ts";
import type { BodyDefinition } from "../schema/resource-definition.ts";
import type { JsonObject } from "../translation-context.ts";
import { compileUnwrap, compileUpstreamFormat, type UpstreamBodyFormat } from "./body-format.ts";
import { compileBodyForm, compileForms, compileIdCheck } from "./body-forms.ts";
import {
  compilePathMembers,
  compileSentMembers,
  findParts,
  type BodyContext,
  type BodyMember,
  type Part,
  type PathMember,
} from "./body-members.ts";
import { mergeSources } from "./body-merge.ts";
import type { CheckDefinition } from "../expressions/check-definition.ts";
import { compileSchema, validSchema } from "./body-schema.ts";
import { nestedSchema } from "./nested-schemas.ts";
import { compileFormValues } from "./form-values.ts";
import {
  closeSchema,
  compilePruning,
  mergeSchemas,
  schemaOf,
  type Schema,
} from "../values/schema-members.ts";
import { compileBodyWrite } from "./write-body.ts";

/** The body of a client's request, parsed. */
export interface SentJson {
  readonly value: unknown;
  /** Whether all its values are texts. */
  readonly isForm: boolean;
  /** Whether the request has no body, or the literal `null` in its place. Its value is an empty object then. */
  readonly isAbsent?: boolean;
}

/** A compiled body: `unwrap`, `normalise`, `check` and `write` run in this order. */
export interface BodyRules {
  /** Whether bodies are lists. `normalise` and `write` then work on an item, `check` on the list. */
  readonly isList: boolean;
  /** The client's wrapper as the pack writes it: `$object` is where the object is. */
  readonly wrapper: Shape;
  /** Returns the object or list in a body. @throws {HttpError} 400 if it has none. */
  readonly unwrap: (sent: SentJson) => JsonObject | readonly unknown[];
  /** Turns an object into its documented form, and drops members that have no effect. */
  readonly normalise: (
    sent: JsonObject,
    isForm?: boolean,
  ) => {
    readonly body: JsonObject;
    readonly faults: readonly ErrorDetail[];
  };
  /** Gives the object of a response the form that {@link normalise} gives a body: ids in place of objects. */
  readonly asBody: (shown: JsonObject) => JsonObject;
  /** Validates a body against alpha's schema, and returns all errors. */
  readonly check: (body: JsonObject | readonly unknown[]) => ErrorDetail[];
  /** Rules that the schema can't express. */
  readonly checks: readonly CheckDefinition[];
  /** How the upstream gets the body. */
  readonly format: UpstreamBodyFormat;
  /** Translates a valid object to v4. */
  readonly write: ReturnType<typeof compileBodyWrite>["write"];
  /** Returns those errors of a translation that are known before any call. */
  readonly findEarlyFaults: ReturnType<typeof compileBodyWrite>["findEarlyFaults"];
  /** Members of the upstream's body whose values its operation has in the path, by path parameter. */
  readonly toPath: ReadonlyMap<string, PathMember>;
  /** Where the values are that the body is merged with: the name of a call, and the path in its response. */
  readonly mergeSources: readonly string[];
  /** Whether all values that it takes from calls are available, and for what they are used. */
  readonly callSources: readonly { readonly path: string; readonly use: "has" | "is merged with" }[];
  /** Members of the upstream's body that the gateway itself sends, always or where the client has not. */
  readonly added: readonly string[];
  /** Names of path parameters that are sent in the body. */
  readonly pathParameters: readonly string[];
  /** Its schema, merged with those of the shared parts that it uses. */
  readonly schema: Schema;
  /** All members that are sent to v4, with their dotted names. */
  readonly members: readonly { readonly name: string; readonly rule: FieldRule }[];
  /** Returns the member that the field of an error is, or is part of. */
  readonly memberOf: (field: string) => BodyMember | undefined;
}

/** The schema of a body as its file has it, and the schema of one object with the members of shared parts. */
interface BodySchema {
  readonly whole: Schema;
  readonly isList: boolean;
  readonly merged: Schema;
}

/** Reads the schema of a body. Reports members that it names and that can never be there. */
function readSchema(
  definition: BodyDefinition,
  parts: readonly Part[],
  location: SourceLocation,
): BodySchema {
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

/** Compiles how the object or list of a body is found. */
function compileBodyUnwrap(
  client: ClientBodiesDefinition,
  resource: string,
  { whole, isList, merged }: BodySchema,
  location: SourceLocation,
): BodyRules["unwrap"] {
  const unwrap = compileUnwrap(client, resource, location);
  const takesNothing = !isList && Object.keys(schemaOf(merged["properties"])).length === 0;
  const isNothing = (value: unknown): boolean =>
    takesNothing && (value === null || (isObject(value) && Object.keys(value).length === 0));
  const convertList = compileFormValues(whole);
  return ({ value, isForm, isAbsent = false }) => {
    if (isNothing(value)) return {};
    const object = isAbsent ? value : unwrap(value);
    const body = isList && isForm ? convertList(object) : object;
    if (isList && Array.isArray(body)) return body;
    if (!isList && isObject(body)) return body;
    throw new HttpError(400, `The body must be a JSON ${isList ? "array" : "object"}.`);
  };
}

/** Members of the upstream's body that the gateway itself sends. */
const addedMembers = (definition: BodyDefinition): string[] =>
  Object.keys({
    ...definition.set,
    ...definition.default,
    ...definition.from_path,
    ...definition.from_body,
    ...definition.from_calls,
  });

/** Where the values are that a body has of calls, and what for. */
const callSources = (definition: BodyDefinition): BodyRules["callSources"] => [
  ...mergeSources(definition).map((path) => ({ path, use: "is merged with" }) as const),
  ...Object.values(definition.from_calls ?? {}).map((path) => ({ path, use: "has" }) as const),
];

/**
 * Compiles one body of a resource.
 *
 * @param names Names of the resource in the wrappers of both sides.
 * @param own Fields and inputs of the resource by alpha name.
 */
export function compileBody(
  definition: BodyDefinition,
  names: { readonly client: string; readonly upstream: string },
  own: ReadonlyMap<string, WritableMember>,
  context: BodyContext,
  location: SourceLocation,
): BodyRules {
  const parts = findParts(definition, context, location);
  const find = (name: string) =>
    own.get(name) ?? parts.find((part) => part.members.has(name))?.members.get(name);
  const bodySchema = readSchema(definition, parts, location.at("schema"));
  const { whole, isList, merged } = bodySchema;
  const members = compileSentMembers(merged, find, context, location.at("schema"));
  const client = { ...context.dialect.client.bodies, ...definition.client };
  const schema =
    client.unknown === "reject"
      ? closeSchema(merged, (name) => nestedSchema(find(name)?.rule ?? {}, context))
      : merged;
  const { write, findEarlyFaults } = compileBodyWrite(definition, members, context, location);
  const toPath = compilePathMembers(definition, members, location);
  if (isList && typeof definition.merge_with === "string")
    location.at("merge_with").report("a body that is a list has no single object to merge with");
  if (isList && definition.from_calls)
    location.at("from_calls").report("no calls are sent before a body that is a list");
  const prune = compilePruning(schema);
  const readForms = compileForms(members, context.id);
  const convertForm = compileFormValues(schema);
  const memberOf: BodyRules["memberOf"] = (field) =>
    members.find(
      ({ name }) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`),
    );
  const checkIds = compileIdCheck(members, context.id);
  const checkSchema = compileSchema(
    isList ? { ...whole, items: schema } : schema,
    location.at("schema"),
    context.errorIndexes.areKept,
  );
  const unwrap = compileBodyUnwrap(client, names.client, bodySchema, location.at("client"));
  const format = compileUpstreamFormat(
    { ...context.dialect.upstream.bodies, ...definition.upstream },
    names.upstream,
    isList,
    location.at("upstream"),
  );

  return {
    schema,
    members,
    checks: definition.checks ?? [],
    added: addedMembers(definition),
    pathParameters: [...Object.values(definition.from_path ?? {}), ...format.pathParameters],
    format,
    isList,
    mergeSources: mergeSources(definition),
    callSources: callSources(definition),
    toPath,
    wrapper: fillShape(client.object ?? "$object", { object: "$object", name: names.client }),
    unwrap,
    normalise(sent, isForm) {
      const { body, faults } = readForms(sent);
      return { body: prune(isForm ? convertForm(body) : body) as JsonObject, faults };
    },
    asBody: compileBodyForm(
      members,
      context.id,
      (object) => context.resources.get(object)?.definition.fields,
    ),
    memberOf,
    check(body) {
      const errors = checkSchema(body);
      const reported = new Set(errors.map(({ field = "" }) => memberOf(field)?.name));
      const withoutId = [body].flat().flatMap((each) => (isObject(each) ? checkIds(each) : []));
      return [...errors, ...withoutId.filter(({ field }) => !reported.has(field))];
    },
    write,
    findEarlyFaults,
  };
}
