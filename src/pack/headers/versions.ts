/** The version of an interface that requests specify. */
import { HttpError } from "../errors/http-error.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { VersionDefinition } from "./headers-definition.ts";

/** Returns the error of a request for an unsupported version. */
type CheckVersion = (
  headers: Readonly<Record<string, readonly string[] | undefined>>,
) => HttpError | undefined;

const NOT_ACCEPTABLE = 406;

/** A parsed media type: its type, and its parameters without the weight, in lower case. */
interface MediaType {
  readonly type: string;
  readonly parameters: ReadonlySet<string>;
  /** Whether a client excludes the type: `q=0`. */
  readonly isExcluded: boolean;
}

function parseMediaType(text: string): MediaType {
  const [type = "", ...others] = text
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const parameters = others.map((part) => part.replaceAll(/[\s"]/g, "")).filter(Boolean);
  return {
    type,
    parameters: new Set(parameters.filter((part) => !part.startsWith("q="))),
    isExcluded: parameters.some((part) => /^q=0(?:\.0*)?$/.test(part)),
  };
}

/** Ranges that include every JSON response. */
const ANY_JSON: ReadonlySet<string> = new Set(["*/*", "application/*", "application/json"]);

function acceptsVersion(lines: readonly string[], version: MediaType, isRequired: boolean): boolean {
  const accepted = lines
    .flatMap((line) => line.split(","))
    .map(parseMediaType)
    .filter(({ type, isExcluded }) => type !== "" && !isExcluded);
  if (lines.every((line) => line.trim() === "")) return !isRequired;
  return accepted.some(
    ({ type, parameters }) =>
      (type === version.type && parameters.isSupersetOf(version.parameters)) ||
      (!isRequired && ANY_JSON.has(type) && parameters.size === 0),
  );
}

/** Reports a version without a location, or with two locations. */
export function checkVersionPlace(
  version: Omit<VersionDefinition, "required"> | undefined,
  location: SourceLocation,
): void {
  if (!version) return;
  const { header, value, media_type: type } = version;
  const isComplete =
    type === undefined
      ? header !== undefined && value !== undefined
      : header === undefined && value === undefined;
  if (!isComplete)
    location.report({
      message: 'a version needs either "header" and "value", or "media_type"',
      hint: "{ header: X-Api-Version, value: 2 }",
    });
}

/** Compiles the check of a request's version; undefined if the pack accepts any version. */
export function compileVersion(version: VersionDefinition | undefined): CheckVersion | undefined {
  if (!version) return undefined;
  const { header = "", value, media_type: type, required: isRequired = false } = version;
  if (type !== undefined) {
    const expected = parseMediaType(type);
    return ({ accept = [] }) =>
      acceptsVersion(accept, expected, isRequired)
        ? undefined
        : new HttpError(NOT_ACCEPTABLE, `Only ${type} is available.`);
  }
  const name = header.toLowerCase();
  return (headers) => {
    const lines = headers[name] ?? [];
    const isRight = lines.length === 0 ? !isRequired : lines.every((line) => line.trim() === value);
    return isRight ? undefined : new HttpError(400, `${header} must be ${value}.`);
  };
}
