/** Error bodies of both dialects: one shape, or several by status and by whether problems have fields. */
import { createErrorReader, type ReadErrors } from "./error-reader.ts";
import {
  createErrorWriter,
  type ErrorContext,
  type FieldStyle,
  type StatusTexts,
  type WriteErrorBody,
} from "./error-writer.ts";
import type { ErrorDetail } from "./http-error.ts";
import type { Shape } from "../fields/shape.ts";

/** Reads and writes the error bodies of one dialect. */
export interface ErrorFormat {
  /** As the pack writes them. The last one is for all errors that no other is for. */
  readonly shapes: readonly Shape[];
  /**
   * Parses an error body; undefined if the value is not one. An entry without a text has that of the whole error, or an
   * empty one, if it has a field. Otherwise it is omitted.
   *
   * @param status of the error; without it, any shape may be the one
   */
  read(body: unknown, status?: number): ReadErrors | undefined;
  readonly write: WriteErrorBody;
}

/** A shape that some errors have. */
export interface ErrorShape {
  /** `404`, or `4XX` for its class; undefined: any. */
  readonly statuses?: readonly (number | string)[] | undefined;
  /** Whether problems have fields; undefined: either. */
  readonly fields?: boolean | undefined;
  readonly shape: Shape;
}

export type { ErrorContext, ReadErrors };

const hasField = ({ field }: ErrorDetail): boolean => field !== undefined;

const isFor = ({ statuses }: ErrorShape, status: number): boolean =>
  statuses === undefined || statuses.includes(status) || statuses.includes(`${Math.floor(status / 100)}XX`);

/**
 * Creates the error format of a dialect.
 *
 * @param shapes JSON with `$message`, `$field` and other names. The first one that is for an error counts.
 */
export function createErrorFormat(
  shapes: readonly ErrorShape[],
  texts: StatusTexts,
  style: FieldStyle,
): ErrorFormat {
  const formats = shapes.map((rule) => ({
    rule,
    read: createErrorReader(rule.shape, style.noField),
    write: createErrorWriter(rule.shape, texts, style),
  }));
  return {
    shapes: shapes.map(({ shape }) => shape),
    read(body, status) {
      for (const { rule, read } of formats) {
        const found = status === undefined || isFor(rule, status) ? read(body) : undefined;
        if (found && (rule.fields ?? found.details.some(hasField)) === found.details.some(hasField))
          return found;
      }
      return undefined;
    },
    write(details, status, context) {
      const isWithFields = details.some(hasField);
      const format = formats.find(
        ({ rule }) => isFor(rule, status) && (rule.fields ?? isWithFields) === isWithFields,
      );
      return format?.write(details, status, context);
    },
  };
}
