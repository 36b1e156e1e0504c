import type { ErrorDetail } from "../../dialect/http-error.ts";
import { mapMaybe, thenMaybe, type MaybePromise } from "../../jsonata/index.ts";
import { compilePruning, compileSchema, schemaMembers, validSchema, type Schema } from "./body-schema.ts";
import type { BodyDefinition, FieldRule, PartDefinition } from "../schema/definition.ts";
import type { FieldContext } from "./field/context.ts";
import { compileWrite, UNKNOWN_ID, type WriteFunction } from "./field/write.ts";
import { compileChecks } from "./checks.ts";
import { compileForms, type FormMember } from "./body-forms.ts";
import { isObject } from "../../dialect/json/parse.ts";
import { compileGetter, compileRemover, compileSetter } from "./member-paths.ts";
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

/** A shared part of `pack.yaml` with a valid schema. */
interface Part extends Pick<PartDefinition, "inputs"> {
  readonly schema: Schema;
}

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
  const { add = {}, default: defaults = {}, from_path: fromPath = {}, over = {} } = definition;
  const missing = Object.entries(defaults).filter(([name]) => !Object.hasOwn(v4, name));
  const ids = Object.entries(fromPath).map(
    ([name, parameter]) => [name, parsePathId(path[parameter])] as const,
  );
  for (const [name, source] of Object.entries(over)) {
    if (Object.hasOwn(v4, name))
      v4[name] = mergeWithCurrent(v4[name], compileGetter(source)(prerequisites), hiddenIn(name));
  }
  const added = [...missing, ...ids, ...Object.entries(add)];
  for (const [name, value] of added) v4[name] = value;
  return new Set(added.map(([name]) => name));
}

/** What bodies may refer to. */
export interface BodyContext extends FieldContext {
  readonly parts: ReadonlyMap<string, Part>;
  readonly unknownRecord: string;
}

/** Compiles one body of a resource. @param rules Fields and inputs of the resource by alpha name. */
export function compileBody(
  definition: BodyDefinition,
  rules: ReadonlyMap<string, FieldRule>,
  context: BodyContext,
  location: SourceLocation,
): BodyRules {
  const parts = (definition.uses ?? []).flatMap(
    (name, index) => resolveReference(location.at("uses", index), "part", name, context.parts) ?? [],
  );
  const ruleOf = (name: string) =>
    rules.get(name) ?? parts.find(({ inputs }) => Object.hasOwn(inputs, name))?.inputs[name];
  const schema = mergeSchemas(validSchema(definition.schema, location.at("schema")), parts);
  const writtenRules = new Map<string, FieldRule>();
  for (const name of schemaMembers(schema, (member) => ruleOf(member) !== undefined)) {
    const rule = ruleOf(name);
    if (rule?.v4) writtenRules.set(name, rule);
    else location.at("schema").report(`"${name}" is in the schema, but no field or input maps it to v4`);
  }
  const writes = compileWrite(writtenRules, context, () => location);
  const members = [...writtenRules].flatMap(([name, rule]): Member[] => {
    const write = writes.get(name);
    if (!write) return [];
    const [get, remove, put] = [compileGetter(name), compileRemover(name), compileSetter(name)];
    return [{ name, get, remove, put, v4: compileSetter(rule.v4 ?? name), rule, write }];
  });
  const hiddenIn = (v4: string) => {
    const { catalog } = members.find(({ rule }) => rule.v4 === v4)?.rule ?? {};
    return context.catalogs.get(catalog ?? "")?.isHidden ?? (() => false);
  };
  const runChecks = compileChecks(definition.checks ?? [], ["first", "v4"], location.at("checks"));
  const prune = compilePruning(schema);
  const readForms = compileForms(members, context.reference);

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
          if (value === UNKNOWN_ID) faults.push({ field: member.name, reason: context.unknownRecord });
          else if (value !== undefined) member.v4(v4, value);
        });
        const empty = Object.keys(v4).length === 0;
        const names = new Set(given.map(({ name }) => name));
        const added = addGatewayMembers(v4, definition, hiddenIn, writing);
        return thenMaybe(runChecks(body, { v4, first: writing.prerequisites }), (more) => ({
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
