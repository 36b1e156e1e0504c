import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { Refusal, type Fault } from "../dialect/refusal.ts";
import type { Place } from "./place.ts";
import { prepareRegex, RegexTooLong } from "../expression/index.ts";
import { isObject } from "../dialect/json.ts";
import { shortestAddress } from "./ip-address.ts";
import type { JsonObject } from "./reading.ts";

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
};

/** `/alerts/cpu/threshold` → `alerts.cpu.threshold`, `/keys/0` → `keys[0]` (RFC 6901). */
function dotted(pointer: string, below: string | undefined): string {
  const keys = pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (below !== undefined) keys.push(below);
  return keys.reduce(
    (path, key) => (/^\d+$/.test(key) ? `${path}[${key}]` : path ? `${path}.${key}` : key),
    "",
  );
}

function fault(error: ErrorObject): Fault {
  const params = error.params as Params & { missingProperty?: string; additionalProperty?: string };
  const told =
    isObject(error.parentSchema) && error.keyword !== "required" ? error.parentSchema["reason"] : undefined;
  const reason = typeof told === "string" ? told : (REASONS[error.keyword]?.(params) ?? "Not a valid value.");
  return { field: dotted(error.instancePath, params.missingProperty ?? params.additionalProperty), reason };
}

/** Two rules of one member may give the same reason; a client reads it once. */
const distinct = (faults: readonly Fault[]): Fault[] => [
  ...new Map(faults.map((each) => [`${each.field} ${each.reason}`, each])).values(),
];

/** The schema, where it is one; else that is told, and what allows everything takes its place. */
export function soundSchema(schema: Schema, place: Place): Schema {
  try {
    // Throws at once: none of our schemas is loaded from elsewhere.
    void ajv.validateSchema(schema, true);
    return schema;
  } catch (error) {
    place.fault(`not a JSON Schema: ${(error as Error).message}`);
    return {};
  }
}

/** Compiles a schema into a function that gives every fault of a body, in alpha's names. */
export function compileSchema(schema: Schema, place: Place): (body: JsonObject) => Fault[] {
  let validate: ValidateFunction;
  function isValid(body: JsonObject): boolean {
    try {
      return validate(body);
    } catch (error) {
      if (!(error instanceof RegexTooLong)) throw error;
      throw new Refusal(400, "A text of the body is too long.");
    }
  }
  // Ajv knows a schema for ever, and by its name: the next pack would find it taken.
  const { $id: _name, ...unnamed } = schema;
  try {
    validate = ajv.compile(unnamed);
  } catch (error) {
    place.fault(`not a JSON Schema: ${(error as Error).message}`);
    return () => [];
  } finally {
    ajv.removeSchema(unnamed);
  }
  return (body) =>
    isValid(body)
      ? []
      : distinct((validate.errors ?? []).filter(({ keyword }) => !SILENT.has(keyword)).map(fault));
}

const allowsNull = (schema: Schema): boolean =>
  schema["type"] === "null" || (Array.isArray(schema["type"]) && schema["type"].includes("null"));

/**
 * Makes a function that keeps of a body what its schema names. Unknown members are dropped (alpha ignores
 * them), and so is null, which means "not given", unless the schema says that null is a value here. With
 * `additionalProperties: false` unknown members stay, to be told as faults.
 */
export function compilePruning(schema: Schema): (value: unknown) => unknown {
  const { properties, items } = schema;
  if (isObject(items)) {
    const prune = compilePruning(items);
    return (value) => (Array.isArray(value) ? value.map(prune) : value);
  }
  if (!isObject(properties)) return (value) => value;
  const members = Object.entries(properties).map(([name, member]) => ({
    name,
    prune: compilePruning(member as Schema),
    nullable: allowsNull(member as Schema),
  }));
  return (value) => {
    if (!isObject(value)) return value;
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
