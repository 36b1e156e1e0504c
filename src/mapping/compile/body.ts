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

/** A body on its way to v4. */
export interface WrittenBody {
  readonly v4: JsonObject;
  readonly faults: readonly ErrorDetail[];
  /** Names of v4 members that the gateway put in by itself: nobody is blamed for those. */
  readonly added: ReadonlySet<string>;
  /** True where nothing of what the client sent goes on. */
  readonly empty: boolean;
  /** Whether the client sent a member, by its alpha name. */
  readonly sent: (member: string) => boolean;
}

/** The three steps of a body, in their order. */
export interface BodyRules {
  /** Brings what clients send to the documented names and forms, and drops what does not count. */
  readonly normalise: (sent: JsonObject) => {
    readonly body: JsonObject;
    readonly faults: readonly ErrorDetail[];
  };
  /** Alpha's own rules: every fault of the body. */
  readonly check: (body: JsonObject) => ErrorDetail[];
  readonly write: (body: JsonObject, writing: WriteContext) => MaybePromise<WrittenBody>;
  /** Names of path parameters that go into the body. */
  readonly pathParameters: readonly string[];
  /** Its schema, with those of the parts it uses. */
  readonly schema: Schema;
  /** Every member that goes on, by its dotted name. */
  readonly members: readonly { readonly name: string; readonly rule: FieldRule }[];
  /** The member that a fault's field is, or lies in. */
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

/** A part of `pack.yaml`, its schema a sound one. */
interface Part extends Pick<PartDefinition, "inputs"> {
  readonly schema: Schema;
}

/** The schema of a body together with those of the parts it uses. */
function mergedSchema(schema: Schema, parts: readonly Part[]): Schema {
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

/** An id of the path as bodies have it: a number where it is one. */
const ofPath = (value: string | undefined): unknown => (value && /^\d+$/.test(value) ? Number(value) : value);

/** What is written whole keeps what the client did not write: other members of an object, hidden ids of a list. */
function overlay(written: unknown, shown: unknown, isHidden: (id: unknown) => boolean): unknown {
  if (isObject(written) && isObject(shown)) return { ...shown, ...written };
  if (Array.isArray(written) && Array.isArray(shown)) return [...written, ...shown.filter(isHidden)];
  return written;
}

/**
 * Puts in what the gateway adds by itself: fixed members, defaults, ids of the path, and what a member that is
 * written whole keeps. Gives the names of those that the client did not send.
 */
function complete(
  v4: JsonObject,
  definition: BodyDefinition,
  hiddenIn: (v4: string) => (id: unknown) => boolean,
  { path, prerequisites }: WriteContext,
): Set<string> {
  const { add = {}, default: defaults = {}, from_path: fromPath = {}, over = {} } = definition;
  const missing = Object.entries(defaults).filter(([name]) => !Object.hasOwn(v4, name));
  const ids = Object.entries(fromPath).map(([name, parameter]) => [name, ofPath(path[parameter])] as const);
  for (const [name, shown] of Object.entries(over)) {
    if (Object.hasOwn(v4, name))
      v4[name] = overlay(v4[name], compileGetter(shown)(prerequisites), hiddenIn(name));
  }
  const own = [...missing, ...ids, ...Object.entries(add)];
  for (const [name, value] of own) v4[name] = value;
  return new Set(own.map(([name]) => name));
}

export interface BodyContext extends FieldContext {
  readonly parts: ReadonlyMap<string, Part>;
  readonly unknownRecord: string;
}

/** Compiles one body definition of a resource; `rules` are its fields and inputs by alpha name. */
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
  const schema = mergedSchema(validSchema(definition.schema, location.at("schema")), parts);
  const writtenRules = new Map<string, FieldRule>();
  for (const name of schemaMembers(schema, (member) => ruleOf(member) !== undefined)) {
    const rule = ruleOf(name);
    if (rule?.v4) writtenRules.set(name, rule);
    else
      location.at("schema").report(`"${name}" is in the schema, but no field or input says what it is in v4`);
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
  const broken = compileChecks(definition.checks ?? [], ["first", "v4"], location.at("checks"));
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
        const added = complete(v4, definition, hiddenIn, writing);
        return thenMaybe(broken(body, { v4, first: writing.prerequisites }), (more) => ({
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
