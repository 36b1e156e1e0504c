import {
  _,
  Ajv2020,
  type Code,
  type ErrorObject,
  type KeywordCxt,
  type ValidateFunction,
} from "ajv/dist/2020.js";
import names from "ajv/dist/compile/names.js";
import { HttpError, type ErrorDetail } from "../../dialect/http-error.ts";
import type { SourceLocation } from "../load/source-location.ts";
import { prepareRegex, RegexLimitError } from "../../jsonata/index.ts";
import { isObject } from "../../dialect/json/parse.ts";
import { shortestAddress } from "./ip-address.ts";
import type { JsonObject } from "../translation-context.ts";

/** A JSON Schema of a pack; the format `ip` is an IPv4 or IPv6 address. `reason` may stand in any part of it: what a client is told instead of our own words. */
export type Schema = Readonly<Record<string, unknown>>;

/** Patterns of a schema run in a time that grows with the text alone. What can't is told as a fault of the schema. */
const linear = Object.assign((pattern: string, flags: string) => prepareRegex(pattern, flags)(), {
  code: "linear",
});

const ajv = new Ajv2020({
  code: { regExp: linear },
  allErrors: true,
  verbose: true,
  allowUnionTypes: true,
  strictTypes: false,
  validateSchema: false, // soundSchema does
  logger: false,
});
ajv.addKeyword({ keyword: "reason", schemaType: "string" });

/** More faults of a body are no help to anyone; checking stops there. */
const MOST_FAULTS = 50;

/** What a body may have where its schema names no limit. */
const DEFAULT_LIMITS = { maxItems: 5000, maxProperties: 1000, maxLength: 65_535 };

/**
 * Ends checking at a number of faults. Stands in schemas of items and members, of which there may be many. Not in a
 * condition, whose faults count for nothing.
 */
const STOP = "stopAtFaults";
ajv.addKeyword({
  keyword: STOP,
  schemaType: "boolean",
  code({ gen, it }) {
    if (it.compositeRule) return;
    gen.if(_`${names.default.errors} >= ${MOST_FAULTS}`, () => {
      gen.assign(_`${it.validateName}.errors`, names.default.vErrors);
      gen.return(false);
    });
  },
});

/** The limit of a type's size, and whether data may keep to it; a text has at most two units for a character. */
const SIZES: Readonly<
  Record<string, { limit: string; fits: (data: KeywordCxt["data"], most: number) => Code }>
> = {
  array: { limit: "maxItems", fits: (data, most) => _`${data}.length <= ${most}` },
  object: { limit: "maxProperties", fits: (data, most) => _`Object.keys(${data}).length <= ${most}` },
  string: { limit: "maxLength", fits: (data, most) => _`${data}.length <= ${2 * most}` },
};

/** Rules that look at each item, member or character, and so only at data whose size is allowed. */
const AFTER_SIZE = new Set([
  "items",
  "uniqueItems",
  "contains",
  "additionalProperties",
  "patternProperties",
  "propertyNames",
  "pattern",
]);

for (const { type = "", rules } of ajv.RULES.rules) {
  const size = SIZES[type];
  for (const { keyword, definition } of size ? rules : []) {
    if (!size || !AFTER_SIZE.has(keyword) || !("code" in definition) || !definition.code) continue;
    const { code } = definition;
    definition.code = (cxt: KeywordCxt, rule?: string) => {
      const most: unknown = cxt.parentSchema[size.limit];
      if (typeof most !== "number") return code(cxt, rule);
      cxt.gen.if(size.fits(cxt.data, most), () => code(cxt, rule));
    };
  }
}

const hasType = ({ type }: Schema, name: string): boolean =>
  type === name || (Array.isArray(type) && type.includes(name));

/** A schema of members in which everything that a client may repeat has a limit. */
function bounded(schema: Schema): Schema {
  const { properties, items, additionalProperties } = schema;
  const isOpen = properties === undefined || additionalProperties !== undefined;
  const { maxItems, maxProperties, maxLength } = DEFAULT_LIMITS;
  return {
    ...(hasType(schema, "string") && { maxLength }),
    ...(hasType(schema, "array") && { maxItems }),
    ...(hasType(schema, "object") && isOpen && { maxProperties }),
    ...schema,
    ...(isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, member]) => [
          name,
          isObject(member) ? bounded(member) : member,
        ]),
      ),
    }),
    ...(isObject(items) && { items: { ...bounded(items), [STOP]: true } }),
    ...(isObject(additionalProperties) && {
      additionalProperties: { ...bounded(additionalProperties), [STOP]: true },
    }),
  };
}
ajv.addFormat("ip", (text) => shortestAddress(text) !== undefined);

/** Of a condition the broken consequence is the fault, which is reported besides. */
const SILENT = new Set(["if"]);

/** Ajv's parameters of a broken rule, as far as reasons name them. */
type Params = Readonly<Record<"property" | "limit", string | number>> & {
  readonly type: string | string[];
  readonly allowedValues: unknown[];
};

const REASONS: Readonly<Record<string, (params: Params) => string>> = {
  required: () => "This field is required.",
  dependentRequired: ({ property }) => `This field is required together with ${property}.`,
  type: ({ type }) => `Must be of type ${Array.isArray(type) ? type.join(" or ") : type}.`,
  enum: ({ allowedValues }) => `Must be one of ${allowedValues.join(", ")}.`,
  minimum: ({ limit }) => `Must be at least ${limit}.`,
  maximum: ({ limit }) => `Must be at most ${limit}.`,
  minLength: ({ limit }) => `Must be at least ${limit} characters long.`,
  maxLength: ({ limit }) => `Must be at most ${limit} characters long.`,
  maxItems: ({ limit }) => `Must have at most ${limit} entries.`,
  maxProperties: ({ limit }) => `Must have at most ${limit} members.`,
};

/** A longer name is none of a pack's. */
const LONGEST_NAME = 100;

/** `/alerts/cpu/threshold` → `alerts.cpu.threshold`, `/keys/0` → `keys` (RFC 6901): alpha names members alone. */
function dotted(pointer: string, below: string | undefined): string {
  const keys = pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (below !== undefined && below.length <= LONGEST_NAME) keys.push(below);
  return keys.filter((key) => !/^\d+$/.test(key)).join(".");
}

/** Of a type alone a pack's reason tells; beside a rule for one type it is about that rule. */
function tellsOfType({ type, reason: _reason, properties: _properties, ...rules }: Schema): boolean {
  const types = [type].flat().filter((name) => name !== "null");
  const added: Schema = { ...DEFAULT_LIMITS, [STOP]: true };
  return types.length > 1 || Object.entries(rules).every(([rule, value]) => added[rule] === value);
}

function fault(error: ErrorObject): ErrorDetail {
  const params = error.params as Params & { missingProperty?: string; additionalProperty?: string };
  const { keyword, parentSchema } = error;
  const isOwn =
    !isObject(parentSchema) || keyword === "required" || (keyword === "type" && !tellsOfType(parentSchema));
  const told = isOwn ? undefined : parentSchema["reason"];
  const reason = typeof told === "string" ? told : (REASONS[error.keyword]?.(params) ?? "Not a valid value.");
  return { field: dotted(error.instancePath, params.missingProperty ?? params.additionalProperty), reason };
}

/** Two rules of one member may give the same reason; a client reads it once. */
const distinct = (faults: readonly ErrorDetail[]): ErrorDetail[] =>
  [...new Map(faults.map((each) => [`${each.field} ${each.reason}`, each])).values()].slice(0, MOST_FAULTS);

/** The schema, where it is one; else that is told, and what allows everything takes its place. */
export function validSchema(schema: Schema, location: SourceLocation): Schema {
  try {
    // Throws at once: none of our schemas is loaded from elsewhere.
    void ajv.validateSchema(schema, true);
    return schema;
  } catch (error) {
    location.report(`not a JSON Schema: ${(error as Error).message}`);
    return {};
  }
}

/** Compiles a schema into a function that gives every fault of a body, in alpha's names. */
export function compileSchema(schema: Schema, location: SourceLocation): (body: JsonObject) => ErrorDetail[] {
  let validate: ValidateFunction;
  function isValid(body: JsonObject): boolean {
    try {
      return validate(body);
    } catch (error) {
      if (!(error instanceof RegexLimitError)) throw error;
      throw new HttpError(400, "A text of the body is too long.");
    }
  }
  // Ajv knows a schema for ever, and by its name: the next pack would find it taken.
  const { $id: _name, ...unnamed } = schema;
  const bounds = bounded(unnamed);
  try {
    validate = ajv.compile(bounds);
  } catch (error) {
    location.report(`not a JSON Schema: ${(error as Error).message}`);
    return () => [];
  } finally {
    ajv.removeSchema(bounds);
  }
  return (body) =>
    isValid(body)
      ? []
      : distinct((validate.errors ?? []).filter(({ keyword }) => !SILENT.has(keyword)).map(fault));
}

/** Forms of real clients send integers as text (translation 2). What is none stays what it is, and is refused. */
function readDigits(value: unknown): unknown {
  if (typeof value !== "string" || value.length > 32 || !/^\d+$/.test(value)) return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Whether a schema takes an integer and no text. */
const takesDigits = (schema: Schema): boolean => hasType(schema, "integer") && !hasType(schema, "string");

/**
 * Makes a function that keeps of a body what its schema names. Unknown members are dropped (alpha ignores
 * them), and so is null, which means "not given", unless the schema says that null is a value here. With
 * `additionalProperties: false` unknown members stay, to be told as faults. A text of digits becomes an integer where
 * the schema wants one.
 */
export function compilePruning(schema: Schema): (value: unknown) => unknown {
  const { properties, items } = schema;
  const read = takesDigits(schema) ? readDigits : (value: unknown) => value;
  if (isObject(items)) {
    const prune = compilePruning(items);
    const most = typeof schema["maxItems"] === "number" ? schema["maxItems"] : DEFAULT_LIMITS.maxItems;
    // One that is too long is refused unseen.
    return (value) => (Array.isArray(value) && value.length <= most ? value.map(prune) : read(value));
  }
  if (!isObject(properties)) return read;
  const members = Object.entries(properties).map(([name, member]) => ({
    name,
    prune: compilePruning(member as Schema),
    nullable: hasType(member as Schema, "null"),
  }));
  return (value) => {
    if (!isObject(value)) return read(value);
    const kept: JsonObject = schema["additionalProperties"] === false ? { ...value } : {};
    for (const { name, prune, nullable } of members) {
      if (!Object.hasOwn(value, name)) continue;
      if (value[name] === null && !nullable) delete kept[name];
      else kept[name] = prune(value[name]);
    }
    return kept;
  };
}

/**
 * Dotted names of the members that a schema lets through: the deepest `known` ones, else its leaves. A name that
 * has known ones below it only says what errors about the whole of it name.
 */
export function schemaMembers(schema: Schema, known: (name: string) => boolean, prefix = ""): string[] {
  const properties = schema["properties"];
  if (!isObject(properties)) return prefix ? [prefix] : [];
  return Object.entries(properties).flatMap(([name, member]) => {
    const path = prefix ? `${prefix}.${name}` : name;
    const below = schemaMembers(member as Schema, known, path);
    return known(path) && !below.some((deeper) => deeper !== path && known(deeper)) ? [path] : below;
  });
}
