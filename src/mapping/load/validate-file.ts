import type { z } from "zod";
import { MAX_DIAGNOSTICS, type Diagnostic, type DiagnosticCode } from "./diagnostic.ts";
import { describeValue, keysAt, takesText } from "../schema/file-schema.ts";
import { closestMatch, suggestionFor } from "./suggest.ts";
import { withCode, type Message, type YamlPath, type YamlSource } from "./yaml-source.ts";

type Issue = z.core.$ZodIssue;
type Json = Readonly<Record<string, unknown>>;

/** The value at a path. */
const at = (data: unknown, path: YamlPath): unknown =>
  path.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
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

/** Whether an issue is that a value has another type than all that fit. */
const isOfOtherType = (issue: Issue, value: unknown): boolean =>
  issue.path.length === 0 &&
  (issue.code === "invalid_type" ||
    (issue.code === "invalid_value" && !issue.values.some((word) => typeof word === typeof value)));

/** A value that may have this many types may be any JSON. */
const MAX_KINDS = 6;

/** What a value must be that may have several types: the problem of the type that it has, or all types. */
function describeUnion(branches: readonly (readonly Issue[])[], data: unknown, path: YamlPath): Message {
  const value = at(data, path);
  const close = branches.find((issues) => !issues.some((each) => isOfOtherType(each, value)));
  const [issue] = close ?? [];
  if (issue && issue.path.length > 0) {
    const message = describeIssue({ ...issue, path: [...path, ...issue.path] }, data);
    const text = typeof message === "string" ? { message, hint: "" } : message;
    return { ...text, message: `${issue.path.join(".")}: ${text.message}` };
  }
  if (issue?.code === "invalid_value") return describeIssue({ ...issue, path: [...path] }, data);
  const kinds = branches.flatMap(([first]) => {
    if (first?.code === "invalid_type") return [article(KINDS[first.expected] ?? first.expected)];
    return first?.code === "invalid_value" ? first.values.map((word) => JSON.stringify(word)) : [];
  });
  const all = [...new Set(kinds)];
  return all.length > 0 && all.length < MAX_KINDS
    ? `must be ${all.join(" or ")}, but is ${kindOf(value)}`
    : "is not a JSON value";
}

/** The code of a validation issue. @param data The file. */
function codeOf(issue: Issue, data: unknown): DiagnosticCode {
  if (issue.path.length > 0 && at(data, issue.path) === undefined) return "missing-key";
  return issue.code === "invalid_type" || issue.code === "invalid_union" ? "wrong-type" : "invalid-value";
}

/** Phrases a validation issue for the author of a pack. */
function describeIssue(issue: Issue, data: unknown, schema: () => Json = () => ({})): Message {
  const value = at(data, issue.path);
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
    case "invalid_type": {
      const kind = KINDS[issue.expected] ?? issue.expected;
      return `must be ${article(kind)}, but is ${kindOf(value)}`;
    }
    case "too_small":
    case "too_big":
      return describeLimit(issue);
    case "invalid_union":
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

/**
 * The issue of a short form, `ETag: "X Bad"` for `ETag: { upstream: "X Bad" }`, as one of the text: the author has written no
 * such key.
 */
function ofShortForm(issue: Issue, data: unknown): Issue {
  const whole = issue.path.slice(0, -1);
  return typeof at(data, whole) === "string" ? { ...issue, path: whole } : issue;
}

/** The issues of the one alternative that takes a value of this type, in place of "is none of them". */
function ofAlternative(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const [fitting, ...others] = (issue.errors as Issue[][]).filter((issues) =>
    issues.every(({ path, code }) => path.length > 0 || code === "unrecognized_keys"),
  );
  if (!fitting || others.length > 0) return [issue];
  return fitting.flatMap((each) => ofAlternative({ ...each, path: [...issue.path, ...each.path] }));
}

/** Adds what to write in place of a value of a wrong type. @param text as it is written */
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

/**
 * A key without a value whose content follows at its own level, because it is not indented. Then the content is neither
 * reported as unknown keys, nor as missing.
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
    const names = Object.keys(at(data, path) ?? {});
    for (const key of keys) {
      const before = names.slice(0, names.indexOf(key)).findLast((name) => !keys.includes(name));
      if (before === undefined || at(data, [...path, before]) !== null) continue;
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
    if (at(copy, path) === undefined) length -= 1;
    while (length > 0 && Array.isArray(at(copy, path.slice(0, length - 1)))) length -= 1;
    const key = path[length - 1];
    const parent = at(copy, path.slice(0, Math.max(0, length - 1)));
    if (key === undefined) return undefined;
    if (typeof parent === "object" && parent !== null) Reflect.deleteProperty(parent, key);
    onRemoved(path.slice(0, length));
  }
  return copy;
}

/** Removing an invalid part can make its parent invalid, so removal is repeated up to this often. */
const MAX_ROUNDS = 6;

/** The file without its invalid parts; `undefined` where the rest does not match the schema either. */
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

/** Whether a missing key is there under a similar name, which is reported as unknown. */
const isMisspelt = (missing: Issue, issues: readonly Issue[], data: unknown): boolean =>
  at(data, missing.path) === undefined &&
  issues.some(
    (issue) =>
      issue.code === "unrecognized_keys" &&
      issue.path.length === missing.path.length - 1 &&
      issue.path.every((key, index) => key === missing.path[index]) &&
      closestMatch(String(missing.path.at(-1)), issue.keys) !== undefined,
  );

const quoted = (keys: readonly string[]): string => keys.map((key) => `"${key}"`).join(", ");

/** The diagnostics of the unknown keys of one map: one for each that is nearly right, one for all others. */
function describeUnknownKeys(
  { path, keys }: { readonly path: YamlPath; readonly keys: readonly string[] },
  source: YamlSource,
  schema: Json,
): Diagnostic[] {
  const valid = keysAt(schema, path);
  const [first = "", ...others] = keys.filter((key) => closestMatch(key, valid) === undefined);
  const report = (key: string, message: string): Diagnostic =>
    source.keyDiagnosticAt([...path, key], {
      message,
      code: "unknown-key",
      hint: key === "<<" ? "maps can't be merged: write the keys of both here" : suggestionFor(key, valid),
    });
  const similar = keys.filter((key) => key !== first && !others.includes(key));
  const diagnostics = similar.map((key) => report(key, `unknown key "${key}"`));
  if (first === "") return diagnostics;
  if (others.length === 0) return [...diagnostics, report(first, `unknown key "${first}"`)];
  return [
    ...diagnostics,
    report(first, `unknown keys ${quoted([first, ...others])}: check their indentation`),
  ];
}

/** The first issues. An issue about unknown keys counts once for each. */
function firstIssues(issues: readonly Issue[]): Issue[] {
  const first: Issue[] = [];
  let left = MAX_DIAGNOSTICS;
  for (const issue of issues) {
    if (left <= 0) break;
    const isKeys = issue.code === "unrecognized_keys";
    first.push(isKeys ? { ...issue, keys: issue.keys.slice(0, left) } : issue);
    left -= isKeys ? issue.keys.length : 1;
  }
  return first;
}

const countOf = (issues: readonly Issue[]): number =>
  issues.reduce((sum, issue) => sum + (issue.code === "unrecognized_keys" ? issue.keys.length : 1), 0);

/**
 * Validates one file against its schema. Diagnostics are added to the list.
 *
 * @param onRemoved Is called with the path of each part that is invalid and left out of the result.
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
      diagnostics.push(
        source.diagnosticAt(
          issue.path,
          withCode(
            withCorrection(
              describeIssue(issue, source.data, describeSchema),
              at(source.data, issue.path),
              source.textAt(issue.path),
              { schema: describeSchema(), path: issue.path },
            ),
            codeOf(issue, source.data),
          ),
        ),
      );
  }
  // With more problems, what is left of the file says nothing about the pack.
  return countOf(result.error.issues) > MAX_DIAGNOSTICS ? undefined : validPart(source, schema, onRemoved);
}
