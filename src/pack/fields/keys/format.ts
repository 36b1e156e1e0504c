/** The key `format` of a field: its value is a time, which clients always receive in the same form. */
import { z } from "zod";
import { about } from "../../../base/index.ts";
import { normalizeDateTime } from "./date-time.ts";
import { fieldKeys, type ReadStep } from "./field-key.ts";
import { ofText } from "./of-text.ts";

/** A date-time of this length has no fraction and no zone to remove. */
const NORMAL_LENGTH = "YYYY-MM-DDTHH:MM:SS".length;

/** The schema of a time in a response. */
export const DATE_TIME = {
  type: "string",
  pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`,
  description: "ISO 8601 in UTC, without a fraction and without a zone.",
};

const readTime: ReadStep = {
  ...ofText((text) => (text.length === NORMAL_LENGTH ? text : (normalizeDateTime(text) ?? text))),
  isUnchanged: (_bytes, start, end) => end - start === '""'.length + NORMAL_LENGTH,
};

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
  read: (rule) => (isTime(rule) ? [readTime] : []),
  operand: (rule) => ({ dateTime: isTime(rule) }),
  texts: (rule) => (isTime(rule) ? [{ read: "as a time in UTC" }] : []),
  openapi: (rule) => (isTime(rule) ? { anyOf: [DATE_TIME, { type: "null" }] } : undefined),
});
