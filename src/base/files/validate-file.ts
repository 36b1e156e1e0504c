import type { z } from "zod";
import { MAX_DIAGNOSTICS, type Diagnostic } from "./diagnostic.ts";
import { describeProblem, valueAt, type Issue } from "./describe-issue.ts";
import { type Json, keysAt } from "./schema-keys.ts";
import { closestMatch, suggestionFor } from "./suggest.ts";
import type { YamlSource } from "./yaml-source.ts";
import type { YamlPath } from "./yaml-nodes.ts";

/**
 * Changes an issue of a short form, `ETag: "X Bad"` for `ETag: { upstream: "X Bad" }`, to one of the text, because the
 * author did not write the key `upstream`.
 */
function ofShortForm(issue: Issue, data: unknown): Issue {
  const whole = issue.path.slice(0, -1);
  return typeof valueAt(data, whole) === "string" ? { ...issue, path: whole } : issue;
}

/** Returns the issues of the only alternative that accepts a value of this type, instead of "is none of them". */
function ofAlternative(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const [fitting, ...others] = (issue.errors as Issue[][]).filter((issues) =>
    issues.every(({ path, code }) => path.length > 0 || code === "unrecognized_keys"),
  );
  if (!fitting || others.length > 0) return [issue];
  return fitting.flatMap((each) => ofAlternative({ ...each, path: [...issue.path, ...each.path] }));
}

/**
 * Finds a key without a value whose content is on the same level, because it is not indented. The content is then
 * reported neither as unknown keys nor as missing.
 */
function findLostContent(
  issues: readonly Issue[],
  data: unknown,
  schema: Json,
): ReadonlyMap<string, readonly string[]> {
  const lost = new Map<string, string[]>();
  for (const { path, keys } of issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? [issue] : [],
  )) {
    const names = Object.keys(valueAt(data, path) ?? {});
    for (const key of keys) {
      const before = names.slice(0, names.indexOf(key)).findLast((name) => !keys.includes(name));
      if (before === undefined || valueAt(data, [...path, before]) !== null) continue;
      const valid = keysAt(schema, [...path, before]);
      if (valid.length > 0 && !valid.includes(key)) continue;
      const place = [...path, before].join("\0");
      lost.set(place, [...(lost.get(place) ?? []), key]);
    }
  }
  return lost;
}

/**
 * Copies data without its invalid parts, so that the rest can be checked as well. A list with an invalid member is removed
 * as a whole, because removing the member would change the indexes of the others. Returns undefined if nothing is left.
 */
function withoutInvalid(
  data: unknown,
  issues: readonly Issue[],
  onRemoved: (path: YamlPath) => void,
): unknown {
  const copy = structuredClone(data);
  const paths = issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path],
  );
  for (const path of paths) {
    let length = path.length;
    // If a key is missing, the map that lacks it is removed.
    if (valueAt(copy, path) === undefined) length -= 1;
    while (length > 0 && Array.isArray(valueAt(copy, path.slice(0, length - 1)))) length -= 1;
    const key = path[length - 1];
    const parent = valueAt(copy, path.slice(0, Math.max(0, length - 1)));
    if (key === undefined) return undefined;
    if (typeof parent === "object" && parent !== null) Reflect.deleteProperty(parent, key);
    onRemoved(path.slice(0, length));
  }
  return copy;
}

/** Maximum number of rounds. Removing an invalid part can make its parent invalid, so removal is repeated. */
const MAX_ROUNDS = 6;

/** Returns the file without its invalid parts; `undefined` if the rest does not match the schema. */
function validPart<T>(
  source: YamlSource,
  schema: z.ZodType<T>,
  onRemoved: (path: YamlPath) => void,
): T | undefined {
  let data: unknown = source.data;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const result = schema.safeParse(data);
    if (result.success) return result.data;
    data = withoutInvalid(data, result.error.issues, onRemoved);
    if (data === undefined) return undefined;
  }
  return undefined;
}

/** Whether a missing key exists under a similar name, which is reported as unknown. */
const isMisspelt = (missing: Issue, issues: readonly Issue[], data: unknown): boolean =>
  valueAt(data, missing.path) === undefined &&
  issues.some(
    (issue) =>
      issue.code === "unrecognized_keys" &&
      issue.path.length === missing.path.length - 1 &&
      issue.path.every((key, index) => key === missing.path[index]) &&
      closestMatch(String(missing.path.at(-1)), issue.keys) !== undefined,
  );

const quoted = (keys: readonly string[]): string => keys.map((key) => `"${key}"`).join(", ");

/** Describes the unknown keys of one map: one diagnostic for each that is nearly right, and one for all others. */
function describeUnknownKeys(
  { path, keys }: { readonly path: YamlPath; readonly keys: readonly string[] },
  source: YamlSource,
  schema: Json,
): Diagnostic[] {
  const valid = keysAt(schema, path);
  const unlike = keys.filter((key) => closestMatch(key, valid) === undefined);
  const [first, ...others] = unlike;
  const report = (key: string, message: string): Diagnostic =>
    source.keyDiagnosticAt([...path, key], {
      message,
      code: "unknown-key",
      hint: suggestionFor(key, valid),
    });
  const text =
    others.length === 0
      ? `unknown key "${first}"`
      : `unknown keys ${quoted(unlike)}: check their indentation`;
  return [
    ...keys.filter((key) => !unlike.includes(key)).map((key) => report(key, `unknown key "${key}"`)),
    ...(first === undefined ? [] : [report(first, text)]),
  ];
}

/** The number of problems of an issue: unknown keys count one by one. */
const countOf = (issue: Issue): number => (issue.code === "unrecognized_keys" ? issue.keys.length : 1);

/** Returns the first issues. */
function firstIssues(issues: readonly Issue[]): Issue[] {
  const first: Issue[] = [];
  let left = MAX_DIAGNOSTICS;
  for (const issue of issues) {
    if (left <= 0) break;
    first.push(issue.code === "unrecognized_keys" ? { ...issue, keys: issue.keys.slice(0, left) } : issue);
    left -= countOf(issue);
  }
  return first;
}

/**
 * Validates one file against its schema. Diagnostics are added to the list.
 *
 * @param onRemoved Called with the path of each invalid part. The result does not contain these parts.
 * @returns The file, or its valid part, so that later stages report their diagnostics in the same run.
 */
export function validateFile<T>(
  source: YamlSource,
  schema: z.ZodType<T>,
  describeSchema: () => Json,
  diagnostics: Diagnostic[],
  onRemoved: (path: YamlPath) => void = () => undefined,
): T | undefined {
  diagnostics.push(...source.diagnostics);
  if (source.diagnostics.length > 0) return undefined;
  const result = schema.safeParse(source.data);
  if (result.success) return result.data;
  const issues = firstIssues(result.error.issues.flatMap(ofAlternative)).map((issue) =>
    ofShortForm(issue, source.data),
  );
  const lostContent = findLostContent(issues, source.data, describeSchema());
  const lostKeys = new Set([...lostContent.values()].flat());
  for (const issue of issues) {
    const lost = lostContent.get(issue.path.join("\0"));
    if (lost)
      diagnostics.push(
        source.keyDiagnosticAt(issue.path, {
          message: `"${String(issue.path.at(-1))}" is empty`,
          code: "wrong-type",
          hint: `indent ${quoted(lost)} further: these keys are at its own level`,
        }),
      );
    else if (issue.code === "unrecognized_keys") {
      const keys = issue.keys.filter((key) => !lostKeys.has(key));
      if (keys.length > 0)
        diagnostics.push(...describeUnknownKeys({ ...issue, keys }, source, describeSchema()));
    } else if (!isMisspelt(issue, issues, source.data))
      diagnostics.push(source.diagnosticAt(issue.path, describeProblem(issue, source, describeSchema)));
  }
  // With more problems, the rest of the file contains no useful information about the pack.
  const count = result.error.issues.reduce((sum, issue) => sum + countOf(issue), 0);
  return count > MAX_DIAGNOSTICS ? undefined : validPart(source, schema, onRemoved);
}
