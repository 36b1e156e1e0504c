/** Error bodies of both dialects: one shape, or several by status and by whether problems have fields. */
import { createErrorReader, type ReadErrors } from "./read-errors.ts";
import { createErrorWriter, type ErrorContext, type FieldStyle, type StatusTexts } from "./write-errors.ts";
import type { ErrorDetail } from "./http-error.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { Shape } from "../values/shape.ts";

/** Reads and writes the error bodies of one dialect. */
export type ErrorFormat = ReturnType<typeof createErrorFormat>;

/** A shape that some errors have. */
export interface ErrorShape {
  /** `404`, or `4XX` for its class; undefined: any. */
  readonly statuses?: readonly (number | string)[] | undefined;
  /** The shape applies if a problem has one of these codes. Undefined: any. */
  readonly codes?: readonly string[] | undefined;
  /** Whether problems have fields; undefined: either. */
  readonly fields?: boolean | undefined;
  readonly shape: Shape;
}

type DialectResponses = DialectDefinition["client" | "upstream"]["responses"];

/** The errors of a side of a pack, or of an envelope. */
export interface Responses extends Pick<DialectResponses, "error" | "error_shapes" | "no_field"> {
  /** Shapes of an envelope before all others. */
  readonly more_error_shapes?: DialectResponses["error_shapes"];
}

/** The shape of a dialect that writes no errors. */
const DEFAULT_ERROR = { message: "$message" };

/** The shapes of a dialect. The last one is for all other errors. */
export const shapesOf = ({
  error = DEFAULT_ERROR,
  error_shapes: others = [],
  more_error_shapes: first = [],
}: Responses): ErrorShape[] => [
  ...[...first, ...others].map(({ status, code, fields, shape }) => ({
    statuses: status === undefined ? undefined : [status].flat(),
    codes: code === undefined ? undefined : [code].flat(),
    fields,
    shape,
  })),
  { shape: error },
];

export type { ErrorContext, ReadErrors };

const hasField = ({ field }: ErrorDetail): boolean => field !== undefined;

const isFor = ({ statuses }: ErrorShape, status: number): boolean =>
  statuses === undefined || statuses.includes(status) || statuses.includes(`${Math.floor(status / 100)}XX`);

/** Returns the code of a problem, also of one without a code of its own. */
type CodeOf = (detail: ErrorDetail) => string | undefined;

/** The problems that have a code of a shape. */
const withCodes = ({ codes }: ErrorShape, details: readonly ErrorDetail[], codeOf: CodeOf) =>
  codes ? details.filter((detail) => codes.includes(codeOf(detail) ?? "")) : details;

/** Whether a shape is for the problems of an error. */
const fits = (rule: ErrorShape, details: readonly ErrorDetail[], codeOf: CodeOf): boolean =>
  (rule.fields === undefined || details.some(hasField) === rule.fields) &&
  (rule.codes === undefined || withCodes(rule, details, codeOf).length > 0);

/** The first problem that a shape is for: values outside of the entries are about this one. */
function findMain(
  rule: ErrorShape,
  details: readonly ErrorDetail[],
  codeOf: CodeOf,
): ErrorDetail | undefined {
  const found = withCodes(rule, details, codeOf);
  return (rule.fields ? found.find(hasField) : undefined) ?? found[0];
}

/**
 * Creates the error format of a dialect.
 *
 * @param shapes JSON with `$message`, `$field` and other names. The first one that is for an error counts.
 */
export function createErrorFormat(shapes: readonly ErrorShape[], texts: StatusTexts, style: FieldStyle) {
  const formats = shapes.map((rule) => ({
    rule,
    read: createErrorReader(rule.shape, style.noField),
    write: createErrorWriter(rule.shape, texts, style),
  }));
  return {
    /** In the order of the pack. The last one is for all errors that match no other. */
    shapes: shapes.map(({ shape }) => shape),
    /**
     * Parses an error body. Undefined for another value. An entry with a field and without a text gets the text of
     * the whole error, or an empty one. Without a field it is omitted.
     *
     * @param status Status of the error. Without it, all shapes are tried
     */
    read(body: unknown, status?: number): ReadErrors | undefined {
      for (const { rule, read } of formats) {
        const found = status === undefined || isFor(rule, status) ? read(body) : undefined;
        if (found && fits(rule, found.details, ({ code }) => code ?? found.summary?.code)) return found;
      }
      return undefined;
    },
    write(details: readonly ErrorDetail[], status: number, context?: ErrorContext): unknown {
      const codeOf = ({ code = context?.summary?.code ?? texts.codeOf(status) }: ErrorDetail) => code;
      const format = formats.find(({ rule }) => isFor(rule, status) && fits(rule, details, codeOf));
      return format?.write(details, status, context, findMain(format.rule, details, codeOf));
    },
  };
}
