/** Error bodies of both dialects: one shape, or several, selected by status and by whether problems have fields. */
import type { z } from "zod";
import { createErrorReader, type ReadErrors } from "./read-errors.ts";
import { createErrorWriter, type ErrorContext, type ErrorStyle } from "./write-errors.ts";
import type { ErrorDetail } from "./http-error.ts";
import type { EnvelopeDefinition, shapeRule } from "./responses-definition.ts";
import { classOf } from "./statuses.ts";

/** Reads and writes the error bodies of one dialect. */
export type ErrorFormat = ReturnType<typeof createErrorFormat>;

/** A shape for some errors. */
export type ErrorShape = z.infer<typeof shapeRule>;

/** The errors of a side of a pack, or of an envelope. */
export type Responses = Pick<
  NonNullable<EnvelopeDefinition["client"]>,
  "error" | "error_shapes" | "more_error_shapes" | "no_field"
>;

/** The shape of a dialect that defines no errors. */
const DEFAULT_ERROR = { message: "$message" };

/** Returns the shapes of a dialect. The last one applies to all other errors. */
export const shapesOf = ({
  error = DEFAULT_ERROR,
  error_shapes: others = [],
  more_error_shapes: first = [],
}: Responses): ErrorShape[] => [...first, ...others, { shape: error }];

const hasField = ({ field }: ErrorDetail): boolean => field !== undefined;

const isFor = ({ status: expected }: ErrorShape, status: number): boolean =>
  expected === undefined || [expected].flat().some((each) => each === status || each === classOf(status));

/**
 * Returns the problems that a shape applies to; undefined if it applies to none.
 *
 * @param codeOf Returns the code of a problem, even if the problem has no own code.
 */
function problemsFor(
  { fields, code: expected }: ErrorShape,
  details: readonly ErrorDetail[],
  codeOf: (detail: ErrorDetail) => string | undefined,
): readonly ErrorDetail[] | undefined {
  if (fields !== undefined && details.some(hasField) !== fields) return undefined;
  if (expected === undefined) return details;
  const found = details.filter((detail) => [expected].flat().includes(codeOf(detail) ?? ""));
  return found.length > 0 ? found : undefined;
}

/**
 * Creates the error format of a dialect.
 *
 * @param shapes JSON with `$message`, `$field` and other names. The first shape that applies to an error is used.
 */
export function createErrorFormat(shapes: readonly ErrorShape[], style: ErrorStyle) {
  const formats = shapes.map((rule) => ({
    rule,
    read: createErrorReader(rule.shape, style.noField),
    write: createErrorWriter(rule.shape, style),
  }));
  return {
    /** In the order of the pack. The last one applies to all errors that match no other shape. */
    shapes: shapes.map(({ shape }) => shape),
    /**
     * Parses an error body. Undefined for any other value. An entry with a field and without a text gets the text of
     * the whole error, or an empty text. An entry without either is omitted.
     *
     * @param status Status of the error. If it is missing, all shapes are tried
     */
    read(body: unknown, status?: number): ReadErrors | undefined {
      for (const { rule, read } of formats) {
        const found = status === undefined || isFor(rule, status) ? read(body) : undefined;
        if (found && problemsFor(rule, found.details, ({ code }) => code ?? found.summary?.code))
          return found;
      }
      return undefined;
    },
    write(details: readonly ErrorDetail[], status: number, context?: ErrorContext): unknown {
      const codeOf = ({ code = context?.summary?.code ?? style.codeOf(status) }: ErrorDetail) => code;
      for (const { rule, write } of formats) {
        const found = isFor(rule, status) ? problemsFor(rule, details, codeOf) : undefined;
        if (!found) continue;
        // Values outside of the entries belong to the first problem that the shape applies to.
        const main = (rule.fields ? found.find(hasField) : undefined) ?? found[0];
        return write(details, status, context, main);
      }
      return undefined;
    },
  };
}
