import { HttpError, INVALID_VALUE, type ErrorDetail } from "../../dialect/http-error.ts";
import { mapMaybe, thenMaybe, type MaybePromise } from "../../jsonata/index.ts";
import { compileUnwrap, compileUpstreamFormat, type UpstreamBodyFormat } from "./body-format.ts";
import { fillShape, type Shape } from "../../dialect/shape.ts";
import { compileSchema, validSchema } from "./body-schema.ts";
import {
  closeSchema,
  compilePruning,
  mergeSchemas,
  nestedSchema,
  schemaAt,
  schemaMembers,
  unmappedMembers,
  type Schema,
} from "./schema-members.ts";
import type { ClientBodiesDefinition, UpstreamBodiesDefinition } from "../schema/bodies-definition.ts";
import type { BodyDefinition } from "../schema/resource-definition.ts";
import type { Steps } from "../steps.ts";
import type { FieldRule } from "../schema/field-definition.ts";
import type { PartDefinition } from "../schema/pack-definition.ts";
import type { FieldContext } from "./field/field-context.ts";
import { lossText } from "./field/loss.ts";
import { compileWrite, InvalidWrite, type WriteFault, type WriteFunction } from "./field/write.ts";
import { compileChecks } from "./checks.ts";
import { UnknownValue } from "./value-kinds.ts";
import { compileForms, type FormMember } from "./body-forms.ts";
import { compileFormValues } from "./form-values.ts";
import { isObject } from "../../dialect/json/parse.ts";
import { addGatewayMembers, compileTarget, mergeSources } from "./body-merge.ts";
import { compileGetter, compileRemover, compileSetter } from "./member-paths.ts";
import { reportUnknownMembers } from "../load/check-schema.ts";
import { resolveReference, type SourceLocation } from "../load/source-location.ts";
import type { JsonObject, WriteContext } from "../translation-context.ts";

/** The translation of an alpha body. */
export interface WrittenBody {
  readonly v4: JsonObject;
  readonly faults: readonly ErrorDetail[];
  /** Names of v4 members that the gateway added. Errors about these are not reported to the client. */
  readonly added: ReadonlySet<string>;
  /** Whether nothing that the client sent is sent to v4. */
  readonly empty: boolean;
  /** Whether the client sent a member, by its alpha name. */
  readonly sent: (member: string) => boolean;
  /** What v4 does not get, or gets as another value. Members with `loss_when` are not looked at here. */
  readonly losses: readonly string[];
}

/** The body of a client's request, parsed. */
export interface SentJson {
  readonly value: unknown;
  /** Whether all its values are texts. */
  readonly isForm: boolean;
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
  /** Validates a body against alpha's schema, and returns all errors. */
  readonly check: (body: JsonObject | readonly unknown[]) => ErrorDetail[];
  /** How the upstream gets the body. */
  readonly format: UpstreamBodyFormat;
  /** Translates a valid object to v4. */
  readonly write: (body: JsonObject, writing: WriteContext) => MaybePromise<WrittenBody>;
  /** Members of the upstream's body whose values its operation has in the path, by path parameter. */
  readonly toPath: ReadonlyMap<string, PathMember>;
  /** Where the values are that the body is merged with: a prerequisite, and the path in its response. */
  readonly mergeSources: readonly string[];
  /** Names of path parameters that are sent in the body. */
  readonly pathParameters: readonly string[];
  /** Its schema, merged with those of the shared parts that it uses. */
  readonly schema: Schema;
  /** All members that are sent to v4, with their dotted names. */
  readonly members: readonly { readonly name: string; readonly rule: FieldRule }[];
  /** Returns the member that the field of an error is, or is part of. */
  readonly memberOf: (field: string) => BodyMember | undefined;
}

/** A member of a body by its dotted name. */
export interface BodyMember {
  readonly name: string;
  readonly get: (body: unknown) => unknown;
  readonly remove: (body: JsonObject) => void;
}

/** A member of a translated body whose value is sent in the path. */
interface PathMember extends Pick<BodyMember, "get" | "remove"> {
  /** Its name for the client. */
  readonly field: string;
}

interface Member extends BodyMember, FormMember {
  readonly v4: (target: JsonObject, value: unknown) => void;
  readonly write: WriteFunction;
}

/** A member that bodies may have, and its translation. */
interface WritableMember {
  readonly rule: FieldRule;
  readonly write: WriteFunction;
}

/** A shared part of `pack.yaml` with a valid schema. */
export interface Part extends Pick<PartDefinition, "inputs"> {
  readonly schema: Schema;
  readonly members: ReadonlyMap<string, WritableMember>;
}

/** Compiles the write direction of members. */
export function* compileMembers(
  rules: ReadonlyMap<string, FieldRule>,
  context: FieldContext,
  locationOf: (name: string) => SourceLocation,
): Steps<ReadonlyMap<string, WritableMember>> {
  const writes = yield* compileWrite(rules, context, locationOf);
  return new Map(
    [...rules].flatMap(([name, rule]) => {
      const write = writes.get(name);
      return write ? [[name, { rule, write }] as const] : [];
    }),
  );
}

/** Compiles a shared part. */
export function* compilePart(
  part: PartDefinition,
  context: FieldContext,
  location: SourceLocation,
): Steps<Part> {
  const locationOf = (name: string) => location.at("inputs", name).ofField(name);
  return {
    inputs: part.inputs,
    schema: validSchema(part.schema, location.at("schema")),
    members: yield* compileMembers(new Map(Object.entries(part.inputs)), context, locationOf),
  };
}

/** Whether v4 does not get the value of a member, or gets that of another alpha value. */
function isLostInWrite(
  { values, write }: FieldRule,
  alpha: unknown,
  v4: unknown,
  context: Pick<FieldContext, "values">,
): boolean {
  if (alpha === null || v4 instanceof InvalidWrite) return false;
  if (v4 === undefined) return true;
  return write === undefined && context.values.get(values ?? "")?.isLostInWrite?.(alpha) === true;
}

/** The error of a member that can't be translated. */
function describeWriteFault(
  { name }: Member,
  { below, cause }: WriteFault,
  unknownRecord: string,
): ErrorDetail {
  const field = name + below;
  if (cause === "unknown id") return { field, reason: unknownRecord, rule: "unknown_record" };
  if (cause instanceof UnknownValue) return { field, reason: cause.reason, rule: "enum" };
  return { field, reason: INVALID_VALUE, cause };
}

/** What bodies may refer to. */
export interface BodyContext extends FieldContext {
  readonly bodies: { readonly client: ClientBodiesDefinition; readonly upstream: UpstreamBodiesDefinition };
  readonly parts: ReadonlyMap<string, Part>;
  readonly unknownRecord: string;
}

/**
 * Compiles one body of a resource.
 *
 * @param resource Name of the resource.
 * @param own Fields and inputs of the resource by alpha name.
 */
export function compileBody(
  definition: BodyDefinition,
  resource: string,
  own: ReadonlyMap<string, WritableMember>,
  context: BodyContext,
  location: SourceLocation,
): BodyRules {
  const parts = (definition.parts ?? []).flatMap(
    (name, index) => resolveReference(location.at("parts", index), "part", name, context.parts) ?? [],
  );
  const find = (name: string) =>
    own.get(name) ?? parts.find((part) => part.members.has(name))?.members.get(name);
  const whole = validSchema(definition.schema, location.at("schema"));
  const isList = whole["type"] === "array";
  const ownSchema = isList && isObject(whole["items"]) ? whole["items"] : whole;
  const merged = mergeSchemas(ownSchema, parts);
  reportUnknownMembers(
    { properties: {}, ...ownSchema },
    isList ? location.at("schema", "items") : location.at("schema"),
    parts.flatMap(({ schema: { properties } }) => Object.keys(isObject(properties) ? properties : {})),
  );
  const names = schemaMembers(merged, (member) => find(member) !== undefined);
  const members = names.flatMap((name): Member[] => {
    const { rule, write } = find(name) ?? {};
    if (!write || rule?.upstream === undefined) {
      location
        .at("schema")
        .report(`"${name}" is in the schema, but no field or input maps it to the upstream`);
      return [];
    }
    const [get, remove, put] = [compileGetter(name), compileRemover(name), compileSetter(name)];
    return [{ name, get, remove, put, v4: compileSetter(rule.upstream), rule, write }];
  });
  for (const { name, rule } of members)
    for (const member of unmappedMembers(rule, schemaAt(merged, name), context))
      location
        .at("schema")
        .report(`"${name}.${member}" is in the schema, but no field or input maps it to the upstream`);
  const hiddenIn = (v4: string) => {
    const { catalog } = members.find(({ rule }) => rule.upstream === v4)?.rule ?? {};
    return context.catalogs.get(catalog ?? "")?.isHidden ?? (() => false);
  };
  const runChecks = compileChecks(
    definition.checks ?? [],
    ["prerequisites", "upstream"],
    location.at("checks"),
  );
  const client = { ...context.bodies.client, ...definition.client };
  const membersOf = (name: string) => nestedSchema(find(name)?.rule ?? {}, context);
  const schema = client.unknown === "reject" ? closeSchema(merged, membersOf) : merged;
  const lossy = new Set(
    members.filter(({ rule }) => rule.loss !== undefined && rule.loss_when === undefined),
  );
  const toPath = new Map<string, PathMember>(
    Object.entries(definition.to_path ?? {}).map(([parameter, member]) => {
      const field = members.find(({ rule }) => rule.upstream === member)?.name;
      if (field === undefined)
        location.at("to_path", parameter).report(`no member of the body is sent as "${member}"`);
      return [
        parameter,
        { field: field ?? member, get: compileGetter(member), remove: compileRemover(member) },
      ];
    }),
  );
  if (isList && typeof definition.merge_with === "string")
    location.at("merge_with").report("a body that is a list has no single object to merge with");
  const target = compileTarget(
    definition.merge_with,
    members.flatMap(({ rule }) => rule.upstream ?? []),
  );
  const prune = compilePruning(schema);
  const readForms = compileForms(members, context.id);
  const convertForm = compileFormValues(schema);
  const convertList = compileFormValues(whole);
  const unwrap = compileUnwrap(client, resource, location.at("client"));
  const format = compileUpstreamFormat(
    { ...context.bodies.upstream, ...definition.upstream },
    resource,
    isList,
    location.at("upstream"),
  );

  return {
    schema,
    members,
    pathParameters: [...Object.values(definition.from_path ?? {}), ...format.pathParameters],
    format,
    isList,
    mergeSources: mergeSources(definition),
    toPath,
    wrapper: fillShape(client.object ?? "$object", { object: "$object", name: resource }),

    unwrap({ value, isForm }) {
      const object = unwrap(value);
      const body = isList && isForm ? convertList(object) : object;
      if (isList ? Array.isArray(body) : isObject(body)) return body as JsonObject | readonly unknown[];
      throw new HttpError(400, `The body must be a JSON ${isList ? "array" : "object"}.`);
    },

    normalise(sent, isForm) {
      const { body, faults } = readForms(sent);
      return { body: prune(isForm ? convertForm(body) : body) as JsonObject, faults };
    },

    memberOf: (field) =>
      members.find(
        ({ name }) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`),
      ),

    check: compileSchema(isList ? { ...whole, items: schema } : schema, location.at("schema")),

    write(body, writing) {
      const given = members.filter(({ get }) => get(body) !== undefined);
      const values = mapMaybe(given, ({ get, write }) => write(get(body), body, writing));
      return thenMaybe(values, (written) => {
        const v4 = target(writing.prerequisites);
        const faults: ErrorDetail[] = [];
        let empty = true;
        given.forEach((member, index) => {
          const value = written[index];
          if (value instanceof InvalidWrite)
            faults.push(
              ...value.faults.map((each) => describeWriteFault(member, each, context.unknownRecord)),
            );
          else if (value !== undefined) {
            member.v4(v4, value);
            empty = false;
          }
        });
        const losses = given.flatMap((member, index) =>
          lossy.has(member) && isLostInWrite(member.rule, member.get(body), written[index], context)
            ? (lossText(member.name, member.rule) ?? [])
            : [],
        );
        const names = new Set(given.map(({ name }) => name));
        const added = addGatewayMembers(v4, definition, hiddenIn, writing);
        return thenMaybe(runChecks(body, { upstream: v4, prerequisites: writing.prerequisites }), (more) => ({
          v4,
          faults: [...faults, ...more],
          empty,
          added,
          sent: (name: string) => names.has(name),
          losses,
        }));
      });
    },
  };
}
