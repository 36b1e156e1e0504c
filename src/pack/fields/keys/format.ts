/** The key `format` of a field: its value is a time, which clients always receive in the same form. */
import { z } from "zod";
import { about, isStringText, type JsonText, stringFromJson, toJsonText } from "../../../base/index.ts";
import { normalizeDateTime } from "./date-time.ts";
import { fieldKeys } from "./field-key.ts";

/** Length of a date-time in quotes that contains neither a fraction nor a zone. */
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

const isTime = ({ format: form }: { readonly format?: "date-time" | undefined }): boolean =>
  form !== undefined;

export const format = fieldKeys({
  schemas: {
    format: about(
      z.enum(["date-time"]).optional(),
      "`date-time`: `YYYY-MM-DDTHH:MM:SS` in UTC.",
      "date-time",
    ),
  },
  read: (rule) =>
    isTime(rule)
      ? [
          {
            run: readTime,
            mayBeAsync: false,
            isUnchanged: (_bytes, start, end) => end - start === NORMAL_LENGTH,
          },
        ]
      : [],
  filter: (rule) => ({ dateTime: isTime(rule) }),
  isTime,
  texts: (rule) => (isTime(rule) ? [{ read: "as a time in UTC" }] : []),
  openapi: (rule) => (isTime(rule) ? { anyOf: [DATE_TIME, { type: "null" }] } : undefined),
});
