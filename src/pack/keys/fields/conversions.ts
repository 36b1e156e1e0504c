/** Keys of a field that convert its value without anything else of the pack. Each is one entry of the list below. */
import { z } from "zod";
import {
  about,
  isStringText,
  type Json,
  type JsonText,
  stringFromJson,
  toJsonText,
} from "../../../base/index.ts";
import type { Scalar } from "../../filters/condition.ts";
import { normalizeDateTime } from "./date-time.ts";
import type { FieldKeys } from "./field-key.ts";

/** The conversion of a field's value by a key. */
interface Conversion {
  /** Its schema, with a description and an example. */
  readonly schema: z.ZodType;
  /** Converts the value of a response, as JSON text. It is not called for null. */
  readonly read: (text: string) => JsonText;
  /** Whether `read` would return these bytes as they are, so that they are copied. */
  readonly isUnchanged?: (bytes: Uint8Array, start: number, end: number) => boolean;
  /** Converts the value of a body or a filter, which is never null. Without it: it is unchanged. */
  readonly write?: <T>(value: T) => T | Scalar;
  /** Whether filters compare the value as a time. */
  readonly isTime?: true;
  /** Its description for authors: `as a time in UTC`. */
  readonly text: string;
  /** The schema of the value in a response. */
  readonly openapi?: Json;
}

/** A date-time of this length, quotes included, has no fraction and no zone to remove. */
const NORMAL_LENGTH = '"YYYY-MM-DDTHH:MM:SS"'.length;

/** The schema of a time in a response. */
export const DATE_TIME = {
  type: "string",
  pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`,
  description: "ISO 8601 in UTC, without a fraction and without a zone.",
};

function readTime(text: string): JsonText {
  if (text.length === NORMAL_LENGTH || !isStringText(text)) return text;
  const value = stringFromJson(text);
  return toJsonText(normalizeDateTime(value) ?? value);
}

const CONVERSIONS = {
  format: {
    schema: about(
      z.enum(["date-time"]).optional(),
      "`date-time`: `YYYY-MM-DDTHH:MM:SS` in UTC.",
      "date-time",
    ),
    read: readTime,
    isUnchanged: (_bytes, start, end) => end - start === NORMAL_LENGTH,
    isTime: true,
    text: "as a time in UTC",
    openapi: { anyOf: [DATE_TIME, { type: "null" }] },
  },
} as const satisfies Readonly<Record<string, Conversion>>;

type Schemas = { readonly [Name in keyof typeof CONVERSIONS]: (typeof CONVERSIONS)[Name]["schema"] };

const ALL: readonly (readonly [string, Conversion])[] = Object.entries(CONVERSIONS);

/** The conversions of a field, in the order in which they run. */
const conversionsOf = (rule: object): readonly Conversion[] =>
  ALL.flatMap(([name, conversion]) => {
    const value: unknown = Reflect.get(rule, name);
    return value === undefined || value === false ? [] : [conversion];
  });

/** Converts a value of a client back; undefined if all conversions leave it as it is. */
function writeOf(rule: object): (<T>(value: T) => T | Scalar) | undefined {
  const writes = conversionsOf(rule).flatMap(({ write }) => write ?? []);
  if (writes.length === 0) return undefined;
  return <T>(value: T) => writes.reduceRight<T | Scalar>((given, write) => write(given), value);
}

const isTime = (rule: object): boolean => conversionsOf(rule).some((each) => each.isTime);

export const conversions: FieldKeys<Schemas> = {
  schemas: Object.fromEntries(ALL.map(([name, { schema }]) => [name, schema])) as Schemas,
  read: (rule) =>
    conversionsOf(rule).map(({ read, isUnchanged }) => ({
      run: read,
      mayBeAsync: false,
      ...(isUnchanged && { isUnchanged }),
    })),
  write(rule) {
    const write = writeOf(rule);
    return write && { run: (value) => (value === null ? value : write(value)), needsWhole: false };
  },
  filter(rule) {
    const write = writeOf(rule);
    return {
      dateTime: isTime(rule),
      // Whether values that differ have the same order is not known.
      ...(write && { translate: (value) => [write(value)], ordered: false }),
    };
  },
  isTime,
  classOf: (rule) => (writeOf(rule) ? "value" : undefined),
  texts: (rule) =>
    conversionsOf(rule).map(({ text, write }) => ({ read: text, ...(write && { write: text }) })),
  openapi: (rule) => conversionsOf(rule).find(({ openapi }) => openapi)?.openapi,
};
