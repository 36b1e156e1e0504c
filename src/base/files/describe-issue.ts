/** Describes a problem with a value of a file, for the author of a pack. */
import type { z } from "zod";
import { describeValue, keysAt, nameOfType, takesText, type Json } from "./schema-keys.ts";
import { type DiagnosticCode, withCode, type Message } from "./diagnostic.ts";
import { suggestionFor } from "./suggest.ts";
import type { YamlSource } from "./yaml-source.ts";
import type { YamlPath } from "./yaml-nodes.ts";

/** A problem that zod has found. */
export type Issue = z.core.$ZodIssue;

/** The value at a path. */
export const valueAt = (data: unknown, path: YamlPath): unknown =>
  path.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
    data,
  );

const kindOf = (value: unknown): string =>
  value === null ? "empty" : nameOfType(Array.isArray(value) ? "array" : typeof value);

type LimitIssue = Extract<Issue, { code: "too_small" | "too_big" }>;

/** Phrases a limit: of a number, or of the length of a string or list. */
function describeLimit(issue: LimitIssue): string {
  const isMinimum = issue.code === "too_small";
  const limit = isMinimum ? issue.minimum : issue.maximum;
  const isLength = ["string", "array"].includes(issue.origin);
  if (isLength && isMinimum && limit === 1) return "must not be empty";
  const bound =
    issue.inclusive === false ? (isMinimum ? "above" : "below") : `at ${isMinimum ? "least" : "most"}`;
  if (!isLength) return `must be ${bound} ${limit}`;
  return `must have ${bound} ${limit} ${issue.origin === "string" ? "characters" : "entries"}`;
}

/** Whether the issue is that the value's type fits no alternative. */
const isOfOtherType = (issue: Issue, value: unknown): boolean =>
  issue.path.length === 0 &&
  (issue.code === "invalid_type" ||
    (issue.code === "invalid_value" && !issue.values.some((word) => typeof word === typeof value)));

/** If a value may have this many types, any JSON is valid. */
const MAX_KINDS = 6;

/**
 * Describes the valid values if several types are allowed: the problem of the alternative that has the value's type, or
 * all types.
 */
function describeUnion(branches: readonly (readonly Issue[])[], data: unknown, path: YamlPath): Message {
  const value = valueAt(data, path);
  const close = branches.find((issues) => !issues.some((each) => isOfOtherType(each, value)));
  const [issue] = close ?? [];
  if (issue && issue.path.length > 0) {
    const message = describeIssue({ ...issue, path: [...path, ...issue.path] }, data);
    const text = typeof message === "string" ? { message, hint: "" } : message;
    return { ...text, message: `${issue.path.join(".")}: ${text.message}` };
  }
  if (issue?.code === "invalid_value") return describeIssue({ ...issue, path: [...path] }, data);
  const kinds = branches.flatMap(([first]) => {
    if (first?.code === "invalid_type") return [nameOfType(first.expected)];
    return first?.code === "invalid_value" ? first.values.map((word) => JSON.stringify(word)) : [];
  });
  const all = [...new Set(kinds)];
  return all.length > 0 && all.length < MAX_KINDS
    ? `must be ${all.join(" or ")}, but is ${kindOf(value)}`
    : "is not a JSON value";
}

/** The code of a validation issue. @param data The file. */
function codeOf(issue: Issue, data: unknown): DiagnosticCode {
  if (issue.path.length > 0 && valueAt(data, issue.path) === undefined) return "missing-key";
  return issue.code === "invalid_type" || issue.code === "invalid_union" ? "wrong-type" : "invalid-value";
}

/** Zod's description of a value that has no specific message. */
const DEFAULT_MESSAGE = "Invalid input";

/** Phrases a validation issue for the author of a pack. */
function describeIssue(issue: Issue, data: unknown, schema: () => Json = () => ({})): Message {
  const value = valueAt(data, issue.path);
  const key = String(issue.path.at(-1));
  if (value === undefined && issue.path.length > 0) {
    const form = describeValue(schema(), issue.path);
    return { message: `the key "${key}" is missing`, hint: form === "" ? "" : `${key}: ${form}` };
  }
  switch (issue.code) {
    case "invalid_value":
      return {
        message: `${JSON.stringify(value)} is not allowed here`,
        hint: suggestionFor(String(value), issue.values.map(String)),
      };
    case "invalid_type":
      return `must be ${nameOfType(issue.expected)}, but is ${kindOf(value)}`;
    case "too_small":
    case "too_big":
      return describeLimit(issue);
    case "invalid_union":
      if (issue.message !== DEFAULT_MESSAGE) return issue.message;
      return describeUnion(issue.errors as Issue[][], data, issue.path);
    case "invalid_key": {
      const [fault] = issue.issues;
      return fault === undefined || fault.code === "too_small"
        ? "a name must not be empty"
        : `"${key}" ${fault.message}`;
    }
    default:
      return issue.message;
  }
}

/** Adds a correction for a value of a wrong type. @param text the value as the author wrote it */
function withCorrection(
  message: Message,
  value: unknown,
  text: string | undefined,
  { schema, path }: { readonly schema: Json; readonly path: YamlPath },
): Message {
  if (typeof message !== "string") return message;
  const isWord = typeof value === "number" || typeof value === "boolean";
  if (isWord && text !== undefined && takesText(schema, path))
    return { message, hint: `if it is a text, write it in quotes: ${JSON.stringify(text)}` };
  if (Array.isArray(value) && message.startsWith("must be a map"))
    return { message, hint: "write its keys without hyphens" };
  const [key] = typeof value === "string" && message.startsWith("must be a map") ? keysAt(schema, path) : [];
  if (key !== undefined) return { message, hint: `${key}: ${text}` };
  if (message.startsWith("must be a list") && kindOf(value) === "a map")
    return { message, hint: "start each entry with a hyphen" };
  if (value !== null || path.length > 0) return message;
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return { message, hint: required.length === 0 ? "" : `it needs the keys ${required.join(", ")}` };
}

/** Phrases an issue of a file, with its code and a correction. */
export function describeProblem(
  issue: Issue,
  source: Pick<YamlSource, "data" | "textAt">,
  schema: () => Json,
): Message {
  const { path } = issue;
  const message = withCorrection(
    describeIssue(issue, source.data, schema),
    valueAt(source.data, path),
    source.textAt(path),
    { schema: schema(), path },
  );
  return withCode(message, codeOf(issue, source.data));
}
