import type { z } from "zod";
import type { Diagnostic } from "./diagnostic.ts";
import { keysAt } from "../schema/file-schema.ts";
import { suggestionFor } from "./suggest.ts";
import type { Message, YamlPath, YamlSource } from "./yaml-source.ts";

type Issue = z.core.$ZodIssue;

/** The value at a path. */
const at = (data: unknown, path: YamlPath): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    data,
  );

const article = (noun: string): string => `${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`;

function kindOf(value: unknown): string {
  if (value === null) return "empty";
  return article(Array.isArray(value) ? "list" : typeof value === "object" ? "map" : typeof value);
}

const KINDS: Readonly<Record<string, string>> = {
  record: "map",
  object: "map",
  array: "list",
  int: "integer",
};

/** Phrases a validation issue for the author of a pack. */
function describeIssue(issue: Issue, data: unknown): Message {
  const value = at(data, issue.path);
  const key = String(issue.path.at(-1));
  if (value === undefined && issue.path.length > 0) {
    const values = issue.code === "invalid_value" ? issue.values.map(String) : [];
    return { message: `the key "${key}" is missing`, hint: values.join(", ") || `${key}: …` };
  }
  if (issue.code === "invalid_value") {
    const values = issue.values.map(String);
    return {
      message: `${JSON.stringify(value)} is not allowed here`,
      hint: suggestionFor(String(value), values),
    };
  }
  if (issue.code === "invalid_type") {
    const kind = KINDS[issue.expected] ?? issue.expected;
    return `must be ${article(kind)}, but is ${kindOf(value)}`;
  }
  return issue.message;
}

/**
 * Copies data without its invalid parts, so that the rest can be checked as well. A list with an invalid member is removed
 * as a whole, because removing the member would change the indexes of the others. Returns undefined if nothing is left.
 */
function withoutInvalid(data: unknown, issues: readonly Issue[]): unknown {
  const copy = structuredClone(data);
  const paths = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path],
  );
  for (const path of paths) {
    let length = path.length;
    // If a key is missing, the map that lacks it is removed.
    if (at(copy, path) === undefined) length -= 1;
    while (length > 0 && Array.isArray(at(copy, path.slice(0, length - 1)))) length -= 1;
    const key = path[length - 1];
    const parent = at(copy, path.slice(0, Math.max(0, length - 1)));
    if (key === undefined) return undefined;
    if (typeof parent === "object" && parent !== null) delete (parent as Record<PropertyKey, unknown>)[key];
  }
  return copy;
}

/** Removing an invalid part can make its parent invalid, so removal is repeated up to this often. */
const MAX_ROUNDS = 6;

/** The file without its invalid parts; `undefined` where the rest does not match the schema either. */
function validPart<T>(source: YamlSource, schema: z.ZodType<T>): T | undefined {
  let data: unknown = source.data;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const result = schema.safeParse(data);
    if (result.success) return result.data;
    data = withoutInvalid(data, result.error.issues);
    if (data === undefined) return undefined;
  }
  return undefined;
}

/**
 * Validates one file against its schema. Diagnostics are added to the list.
 *
 * @returns The file, or its valid part, so that later stages report their diagnostics in the same run.
 */
export function validateFile<T>(
  source: YamlSource,
  schema: z.ZodType<T>,
  describeSchema: () => Readonly<Record<string, unknown>>,
  diagnostics: Diagnostic[],
): T | undefined {
  diagnostics.push(...source.diagnostics);
  if (source.diagnostics.length > 0) return undefined;
  const result = schema.safeParse(source.data);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    if (issue.code !== "unrecognized_keys")
      diagnostics.push(source.diagnosticAt(issue.path, describeIssue(issue, source.data)));
    else
      for (const key of issue.keys) {
        const hint = suggestionFor(key, keysAt(describeSchema(), issue.path));
        diagnostics.push(
          source.keyDiagnosticAt([...issue.path, key], { message: `unknown key "${key}"`, hint }),
        );
      }
  }
  return validPart(source, schema);
}
