import { withBrackets } from "../errors/read-errors.ts";
import {
  _,
  Ajv2020,
  type Code,
  type ErrorObject,
  type KeywordCxt,
  type ValidateFunction,
} from "ajv/dist/2020.js";
import names from "ajv/dist/compile/names.js";
import { errorText, isObject, type SourceLocation } from "../../base/index.ts";
import {
  ValidationError,
  INVALID_VALUE,
  REQUIRED,
  UNKNOWN_MEMBER,
  type ErrorDetail,
} from "../errors/http-error.ts";
import { reportInvalidSchema } from "../values/check-schema.ts";
import { prepareRegex, RegexLimitError } from "../../jsonata/index.ts";
import { shortestAddress } from "../values/ip-address.ts";
import { DEFAULT_LIMITS, hasType, keysOfPointer, type Schema } from "../values/schema-members.ts";
import { findLongTexts, type LongText } from "./text-bounds.ts";
import type { JsonObject } from "../translation-context.ts";

/** Runs the patterns of schemas in linear time. Ajv reports other patterns as errors of the schema. */
const createLinearRegex = Object.assign((pattern: string, flags: string) => prepareRegex(pattern, flags)(), {
  code: "linear",
});

const ajv = new Ajv2020({
  // Optimized code takes longer to generate than it saves.
  code: { regExp: createLinearRegex, optimize: false },
  allErrors: true,
  verbose: true,
  allowUnionTypes: true,
  strictTypes: false,
  validateSchema: false, // validSchema does
  logger: false,
});
ajv.addKeyword({ keyword: "message", schemaType: "string" });

/** Maximum number of errors of one body. Validation stops after this number. */
const MAX_ERRORS = 50;

/**
 * A keyword that stops validation after {@link MAX_ERRORS}. It is added to schemas of items and members, because there
 * may be many. Inside a condition it has no effect, because errors there are not reported.
 */
const STOP = "stopAtMaxErrors";
ajv.addKeyword({
  keyword: STOP,
  schemaType: "boolean",
  code({ gen, it }) {
    if (it.compositeRule) return;
    gen.if(_`${names.default.errors} >= ${MAX_ERRORS}`, () => {
      gen.assign(_`${it.validateName}.errors`, names.default.vErrors);
      gen.return(false);
    });
  },
});

/** The size limit of each type, and code that checks it. A character of a string has at most two UTF-16 units. */
const SIZES: Readonly<
  Record<string, { limit: string; fits: (data: KeywordCxt["data"], most: number) => Code }>
> = {
  array: { limit: "maxItems", fits: (data, most) => _`${data}.length <= ${most}` },
  object: { limit: "maxProperties", fits: (data, most) => _`Object.keys(${data}).length <= ${most}` },
  string: { limit: "maxLength", fits: (data, most) => _`${data}.length <= ${2 * most}` },
};

/** Keywords that iterate over items, members or characters. They only run on data within the size limit. */
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

/** Adds default limits to lists and objects. `text-bounds.ts` checks the limits of texts earlier. */
function withLimits(schema: Schema): Schema {
  const { properties, items, additionalProperties } = schema;
  const isOpen = properties === undefined || additionalProperties !== undefined;
  const { maxItems, maxProperties } = DEFAULT_LIMITS;
  return {
    ...(hasType(schema, "array") && { maxItems }),
    ...(hasType(schema, "object") && isOpen && { maxProperties }),
    ...schema,
    ...(isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, member]) => [
          name,
          isObject(member) ? withLimits(member) : member,
        ]),
      ),
    }),
    ...(isObject(items) && { items: { ...withLimits(items), [STOP]: true } }),
    ...(isObject(additionalProperties) && {
      additionalProperties: { ...withLimits(additionalProperties), [STOP]: true },
    }),
  };
}
ajv.addFormat("ip", (text) => shortestAddress(text) !== undefined);

/** Keywords whose errors are dropped. Ajv also reports the failed branch of an `if`, which is more specific. */
const SUPPRESSED_KEYWORDS = new Set(["if"]);

/** Parameters of an Ajv error that reasons use. */
type Params = Readonly<Record<"property" | "limit", string | number>> & {
  readonly type: string | string[];
  readonly allowedValues: unknown[];
};

const REASONS: Readonly<Record<string, (params: Params) => string>> = {
  required: () => REQUIRED,
  additionalProperties: () => UNKNOWN_MEMBER,
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

/**
 * Maximum length of a member name in an error. No pack uses longer names. The dotted name of an error ends before a
 * longer name that a client sent.
 */
const MAX_NAME_LENGTH = 100;

/** Turns keys into a dotted name: `alerts`, `cpu` → `alerts.cpu`, and `keys`, `0` → `keys`, or `keys[0]` with indexes. */
function toDottedName(keys: readonly string[], hasIndexes: boolean): string {
  const long = keys.findIndex((key) => key.length > MAX_NAME_LENGTH);
  const named = long < 0 ? keys : keys.slice(0, long);
  if (hasIndexes) return withBrackets(`.${named.join(".")}`).replace(/^\./, "");
  return named.filter((key) => !/^\d+$/.test(key)).join(".");
}

/** The field of an error; empty for a rule about the whole body. */
function fieldOf(keys: readonly string[], hasIndexes: boolean): Pick<ErrorDetail, "field"> {
  const field = toDottedName(keys, hasIndexes);
  return field === "" ? {} : { field };
}

/**
 * Whether the reason of a schema also covers a wrong type. If the schema contains further keywords for one type, the
 * reason is about those.
 */
function isReasonAboutType({ type, message: _message, properties: _properties, ...rules }: Schema): boolean {
  const types = [type].flat().filter((name) => name !== "null");
  const added: Schema = { ...DEFAULT_LIMITS, [STOP]: true };
  return types.length > 1 || Object.entries(rules).every(([rule, value]) => added[rule] === value);
}

/** A problem of a body, and its location. */
interface Problem {
  readonly detail: ErrorDetail;
  /** The keys that lead to the location, as text. */
  readonly place: string;
  /** The schema that contains the broken rule. */
  readonly schema: unknown;
  /** Whether the pack defines the reason. */
  readonly hasPackReason: boolean;
}

function toProblem(error: ErrorObject, hasIndexes: boolean): Problem {
  const params = error.params as Params & { missingProperty?: string; additionalProperty?: string };
  const { keyword, parentSchema } = error;
  const hasDefaultReason =
    !isObject(parentSchema) ||
    keyword === "required" ||
    (keyword === "type" && !isReasonAboutType(parentSchema));
  const packReason = hasDefaultReason ? undefined : parentSchema["message"];
  const hasPackReason = typeof packReason === "string";
  const reason = hasPackReason ? packReason : (REASONS[error.keyword]?.(params) ?? INVALID_VALUE);
  const member = params.missingProperty ?? params.additionalProperty;
  const rule = keyword === "additionalProperties" ? "unknown" : keyword;
  const keys = [...keysOfPointer(error.instancePath), ...(member === undefined ? [] : [member])];
  const detail = { ...fieldOf(keys, hasIndexes), reason, rule };
  return { detail, place: keys.join("/"), schema: parentSchema, hasPackReason };
}

const longTextDetail = ({ keys, limit, message }: LongText, hasIndexes: boolean): ErrorDetail => ({
  ...fieldOf(keys, hasIndexes),
  reason: message ?? `Must be at most ${limit} characters long.`,
  rule: "maxLength",
});

/**
 * The first problems of a body. A member that breaks several rules of one schema has one problem: that of the first
 * rule with a `message` of the pack, otherwise that of the first rule. A reason occurs once per name, because all items
 * of a list have the same name without indexes.
 */
function toErrorDetails(errors: readonly ErrorObject[], hasIndexes: boolean): ErrorDetail[] {
  const problems: Problem[] = [];
  for (const error of errors) {
    if (SUPPRESSED_KEYWORDS.has(error.keyword)) continue;
    const problem = toProblem(error, hasIndexes);
    const same = problems.findIndex(
      ({ place, schema }) => place !== "" && place === problem.place && schema === problem.schema,
    );
    if (same < 0) problems.push(problem);
    else if (problem.hasPackReason && problems[same]?.hasPackReason === false) problems[same] = problem;
    if (problems.length >= MAX_ERRORS) break;
  }
  const details = problems.map(({ detail }) => detail);
  return [...new Map(details.map((detail) => [`${detail.field} ${detail.reason}`, detail])).values()];
}

/** Returns a schema if it is valid. Otherwise reports the problem, and returns a schema that allows everything. */
export function validSchema(schema: Schema, location: SourceLocation): Schema {
  return location.isChecked || reportInvalidSchema(schema, ajv, location) ? schema : {};
}

/**
 * Compiles a schema to a function that returns all errors of a body, with alpha's names. That function throws
 * {HttpError} 400 if a text is too long for a pattern.
 *
 * @param hasIndexes whether names of fields contain the indexes of items, in brackets
 */
export function compileSchema(
  schema: Schema,
  location: SourceLocation,
  hasIndexes = false,
): (body: JsonObject | readonly unknown[]) => ErrorDetail[] {
  // Ajv keeps schemas by `$id` forever, so the next pack could not use the same id.
  const { $id: _name, ...unnamed } = schema;
  const limited = withLimits(unnamed);
  function compile(): ValidateFunction {
    try {
      return ajv.compile(limited);
    } finally {
      ajv.removeSchema(limited);
    }
  }
  let compiled: ValidateFunction | undefined;
  function isValid(validate: ValidateFunction, body: unknown): boolean {
    try {
      return validate(body);
    } catch (error) {
      if (!(error instanceof RegexLimitError)) throw error;
      throw new ValidationError("A text of the body is too long.");
    }
  }
  if (!location.isChecked)
    try {
      compiled = compile();
    } catch (error) {
      location.report(`not a JSON Schema: ${errorText(error).replace(/^strict mode: /, "")}`);
      return () => [];
    }
  return (body) => {
    const long = findLongTexts(unnamed, body, MAX_ERRORS);
    if (long.length > 0) return long.map((text) => longTextDetail(text, hasIndexes));
    const validate = (compiled ??= compile());
    return isValid(validate, body) ? [] : toErrorDetails(validate.errors ?? [], hasIndexes);
  };
}
