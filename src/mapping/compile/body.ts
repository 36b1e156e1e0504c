import { INVALID_VALUE, type ErrorDetail } from "../../dialect/http-error.ts";
import { mapMaybe, thenMaybe, type MaybePromise } from "../../jsonata/index.ts";
import {
  compilePruning,
  compileSchema,
  schemaAt,
  schemaMembers,
  validSchema,
  type Schema,
} from "./body-schema.ts";
import type { BodyDefinition } from "../schema/resource-definition.ts";
import type { FieldRule } from "../schema/field-definition.ts";
import type { PartDefinition } from "../schema/pack-definition.ts";
import type { FieldContext } from "./field/context.ts";
import { compileWrite, InvalidWrite, type WriteFault, type WriteFunction } from "./field/write.ts";
import { compileChecks } from "./checks.ts";
import { compileForms, type FormMember } from "./body-forms.ts";
import { isObject } from "../../dialect/json/parse.ts";
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
}

/** A compiled body: `normalise`, `check` and `write` run in this order. */
export interface BodyRules {
  /** Turns a body into its documented form, and drops members that have no effect. */
  readonly normalise: (sent: JsonObject) => {
    readonly body: JsonObject;
    readonly faults: readonly ErrorDetail[];
  };
  /** Validates a body against alpha's schema, and returns all errors. */
  readonly check: (body: JsonObject) => ErrorDetail[];
  /** Translates a valid body to v4. */
  readonly write: (body: JsonObject, writing: WriteContext) => MaybePromise<WrittenBody>;
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
export function compileMembers(
  rules: ReadonlyMap<string, FieldRule>,
  context: FieldContext,
  locationOf: (name: string) => SourceLocation,
): ReadonlyMap<string, WritableMember> {
  const writes = compileWrite(rules, context, locationOf);
  return new Map(
    [...rules].flatMap(([name, rule]) => {
      const write = writes.get(name);
      return write ? [[name, { rule, write }] as const] : [];
    }),
  );
}

/** Compiles a shared part. */
export function compilePart(part: PartDefinition, context: FieldContext, location: SourceLocation): Part {
  const locationOf = (name: string) => location.at("inputs", name).ofField(name);
  return {
    inputs: part.inputs,
    schema: validSchema(part.schema, location.at("schema")),
    members: compileMembers(new Map(Object.entries(part.inputs)), context, locationOf),
  };
}

/** The error of a member that can't be translated. */
const toErrorDetail = ({ name }: Member, { below, cause }: WriteFault, unknownRecord: string): ErrorDetail =>
  cause === "unknown id"
    ? { field: name + below, reason: unknownRecord }
    : { field: name + below, reason: INVALID_VALUE, cause };

/** Merges the schema of a body with those of its parts. */
function mergeSchemas(schema: Schema, parts: readonly Part[]): Schema {
  if (parts.length === 0) return schema;
  const { properties, allOf = [], ...rest } = schema;
  const rules = parts.map(({ schema: { properties: _members, ...rule } }) => rule);
  const members = Object.assign(
    {},
    ...parts.map((part) => part.schema["properties"]),
    properties,
  ) as JsonObject;
  return { ...rest, properties: members, allOf: [...(allOf as Schema[]), ...rules] };
}

/** Returns an id of the path as bodies have it: as a number if it is one. */
const parsePathId = (value: string | undefined): unknown =>
  value && /^\d+$/.test(value) ? Number(value) : value;

/** Merges a v4 member with its current value: v4 would drop other members of an object, and hidden ids of a list. */
function mergeWithCurrent(written: unknown, current: unknown, isHidden: (id: unknown) => boolean): unknown {
  if (isObject(written) && isObject(current)) return { ...current, ...written };
  if (Array.isArray(written) && Array.isArray(current)) return [...written, ...current.filter(isHidden)];
  return written;
}

/**
 * Adds the members that the client did not send (constants, defaults, ids of the path), and merges members that v4
 * replaces as a whole with their current values.
 *
 * @returns Names of the added members.
 */
function addGatewayMembers(
  v4: JsonObject,
  definition: BodyDefinition,
  hiddenIn: (v4: string) => (id: unknown) => boolean,
  { path, prerequisites }: WriteContext,
): Set<string> {
  const { set = {}, default: defaults = {}, from_path: fromPath = {}, merge_with: over = {} } = definition;
  const missing = Object.entries(defaults).filter(([name]) => !Object.hasOwn(v4, name));
  const ids = Object.entries(fromPath).map(
    ([name, parameter]) => [name, parsePathId(path[parameter])] as const,
  );
  for (const [name, source] of Object.entries(over)) {
    if (Object.hasOwn(v4, name))
      v4[name] = mergeWithCurrent(v4[name], compileGetter(source)(prerequisites), hiddenIn(name));
  }
  const added = [...missing, ...ids, ...Object.entries(set)];
  for (const [name, value] of added) v4[name] = value;
  return new Set(added.map(([name]) => name));
}

/** What bodies may refer to. */
export interface BodyContext extends FieldContext {
  readonly parts: ReadonlyMap<string, Part>;
  readonly unknownRecord: string;
}

/** The members of a nested object's schema that no field of that object maps to v4. */
function unmappedMembers(
  { object, write }: FieldRule,
  schema: Schema,
  { resources }: Pick<FieldContext, "resources">,
): string[] {
  const definition = resources.get(object ?? "")?.definition;
  const { items, properties } = schema;
  if (!definition || write !== undefined) return [];
  if (isObject(items)) return unmappedMembers({ object }, items, { resources });
  if (!isObject(properties)) return [];
  const rules = new Map([...Object.entries(definition.fields), ...Object.entries(definition.inputs ?? {})]);
  return schemaMembers(schema, (name) => rules.has(name)).filter(
    (name) => rules.get(name)?.upstream === undefined,
  );
}

/** Compiles one body of a resource. @param own Fields and inputs of the resource by alpha name. */
export function compileBody(
  definition: BodyDefinition,
  own: ReadonlyMap<string, WritableMember>,
  context: BodyContext,
  location: SourceLocation,
): BodyRules {
  const parts = (definition.parts ?? []).flatMap(
    (name, index) => resolveReference(location.at("parts", index), "part", name, context.parts) ?? [],
  );
  const find = (name: string) =>
    own.get(name) ?? parts.find((part) => part.members.has(name))?.members.get(name);
  const ownSchema = validSchema(definition.schema, location.at("schema"));
  const schema = mergeSchemas(ownSchema, parts);
  reportUnknownMembers(
    { properties: {}, ...ownSchema },
    location.at("schema"),
    parts.flatMap(({ schema: { properties } }) => Object.keys(isObject(properties) ? properties : {})),
  );
  const names = schemaMembers(schema, (member) => find(member) !== undefined);
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
    for (const member of unmappedMembers(rule, schemaAt(schema, name), context))
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
  const prune = compilePruning(schema);
  const readForms = compileForms(members, context.id);

  return {
    schema,
    members,
    pathParameters: Object.values(definition.from_path ?? {}),

    normalise(sent) {
      const { body, faults } = readForms(sent);
      return { body: prune(body) as JsonObject, faults };
    },

    memberOf: (field) =>
      members.find(
        ({ name }) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`),
      ),

    check: compileSchema(schema, location.at("schema")),

    write(body, writing) {
      const given = members.filter(({ get }) => get(body) !== undefined);
      const values = mapMaybe(given, ({ get, write }) => write(get(body), body, writing));
      return thenMaybe(values, (written) => {
        const v4: JsonObject = {};
        const faults: ErrorDetail[] = [];
        given.forEach((member, index) => {
          const value = written[index];
          if (value instanceof InvalidWrite)
            faults.push(...value.faults.map((each) => toErrorDetail(member, each, context.unknownRecord)));
          else if (value !== undefined) member.v4(v4, value);
        });
        const empty = Object.keys(v4).length === 0;
        const names = new Set(given.map(({ name }) => name));
        const added = addGatewayMembers(v4, definition, hiddenIn, writing);
        return thenMaybe(runChecks(body, { upstream: v4, prerequisites: writing.prerequisites }), (more) => ({
          v4,
          faults: [...faults, ...more],
          empty,
          added,
          sent: (name: string) => names.has(name),
        }));
      });
    },
  };
}
