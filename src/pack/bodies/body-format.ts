/** The formats of bodies on each side: their media types, and the wrappers around their objects. */
import { NOT_SEPARATE, printForm, type FormStyle } from "./form.ts";
import { ValidationError, REQUIRED, UNKNOWN_MEMBER, type ErrorDetail } from "../errors/http-error.ts";
import { isObject, printJson, type SourceLocation } from "../../base/index.ts";
import { objectPath } from "./object-wrapper.ts";
import { fillKey, fillShape, nameOf, namesIn, valueAt, type Shape } from "../values/shape.ts";
import type { ClientBodiesDefinition, UpstreamBodiesDefinition } from "./bodies-definition.ts";
import type { JsonObject } from "../translation-context.ts";

/** The media type of forms. Bodies of all other types are JSON. */
export const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";

/** Maximum number of unknown members that are reported. */
const MAX_ERRORS = 50;

/** The body formats that clients may send. */
export type ClientMediaTypes = ReturnType<typeof compileMediaTypes>;

/**
 * `application/json`, `application/anything+json`, and the default type of `curl -d`. Case and further
 * parameters are ignored (RFC 9110 8.3, RFC 6839).
 */
const JSON_TYPES = /^application\/(?:(?:[a-z0-9.!#$&^_-]+\+)?json|x-www-form-urlencoded) *(?:;|$)/i;
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?utf-?8\b)/i;

/** Compiles the media types that clients may send. */
export function compileMediaTypes({ media_types: given, null_body: nullBody }: ClientBodiesDefinition) {
  const types = new Map(
    given?.map((type) => [type.toLowerCase(), type.toLowerCase() === FORM ? "form" : "json"] as const),
  );
  const [first = "json"] = types.values();
  return {
    /** Whether the literal `null` counts as no body. */
    nullIsAbsent: nullBody === "absent",
    /** The names of the formats in messages. */
    names: given ?? [JSON_TYPE],
    /** Returns how to read a body of a media type; undefined if clients may not send it. */
    formatOf(contentType: string | undefined): "json" | "form" | undefined {
      if (contentType === undefined) return first;
      if (OTHER_CHARSET.test(contentType)) return undefined;
      if (!given) return JSON_TYPES.test(contentType) ? "json" : undefined;
      const [type = ""] = contentType.split(";", 1);
      return types.get(type.trim().toLowerCase());
    },
  };
}

/** Reports a shape that does not contain `$object` exactly once. Returns its other names. */
function otherNames(shape: Shape, location: SourceLocation): string[] {
  const names = namesIn(shape).map(({ name }) => name);
  if (names.filter((name) => name === "object").length !== 1)
    location.report("a wrapper needs $object once, where the object is");
  return names.filter((name) => name !== "object");
}

/** Returns errors for the members of a body that the wrapper does not contain. */
function unknownMembers(sent: unknown, shape: Shape, resource: string, parent = ""): ErrorDetail[] {
  if (!isObject(sent) || !isObject(shape)) return [];
  const inner = new Map(
    Object.entries(shape).map(([key, value]) => [fillKey(key, { name: resource }), value]),
  );
  return Object.entries(sent).flatMap(([key, value]) =>
    inner.has(key)
      ? unknownMembers(value, inner.get(key), resource, `${parent}${key}.`)
      : [{ field: parent + key, reason: UNKNOWN_MEMBER, rule: "unknown" }],
  );
}

/**
 * Compiles a function that returns the object in the wrapper of a client's body.
 *
 * @returns A function that throws {HttpError} 400 for a body without the object, and for unknown members of a wrapper.
 */
export function compileUnwrap(
  { object: shape, unknown }: Pick<ClientBodiesDefinition, "object" | "unknown">,
  resource: string,
  location: SourceLocation,
): (sent: unknown) => unknown {
  if (shape === undefined) return (sent) => sent;
  for (const name of otherNames(shape, location)) location.report(`unknown name "$${name}"`);
  const path = objectPath(shape, resource);
  return (sent) => {
    const object = valueAt(sent, path);
    const errors = unknown === "reject" ? unknownMembers(sent, shape, resource).slice(0, MAX_ERRORS) : [];
    if (object === undefined || object === null)
      errors.push({ field: path.join("."), reason: REQUIRED, rule: "required" });
    if (errors.length > 0) throw new ValidationError(errors);
    return object;
  };
}

/** How bodies of one kind are sent to the upstream. */
export type UpstreamBodyFormat = ReturnType<typeof compileUpstreamFormat>;

/** Prints a form. @throws {HttpError} 400 for names that a form can't contain, or whose total length is too long. */
function printFormOrThrow(content: unknown, { lists, objects }: FormStyle): string {
  try {
    return printForm(content as JsonObject, lists, objects);
  } catch (error) {
    if (error instanceof SyntaxError && error.message === NOT_SEPARATE)
      throw new ValidationError("A list in the body has objects with different members.");
    if (error instanceof SyntaxError)
      throw new ValidationError("A name in the body is empty or has brackets.");
    if (error instanceof RangeError) throw new ValidationError("The names in the body are too long.");
    throw error;
  }
}

/** Compiles how bodies are sent to the upstream. */
export function compileUpstreamFormat(
  {
    media_type: mediaType = JSON_TYPE,
    lists = "brackets",
    objects = "indexes",
    object: shape = "$object",
  }: UpstreamBodiesDefinition,
  resource: string,
  isList: boolean,
  location: SourceLocation,
) {
  const isForm = mediaType.toLowerCase() === FORM;
  const path = objectPath(shape, resource);
  const prefix = `${path.join(".")}.`;
  if (isForm && isList && nameOf(shape) !== undefined)
    location.report("a form has no list at the top: put it into a wrapper");
  return {
    mediaType,
    /** The names of path parameters that the wrapper contains. */
    pathParameters: otherNames(shape, location.at("object")),
    /** Puts an object into its wrapper. @param path values of the path parameters */
    wrap: (object: unknown, path: Readonly<Record<string, string>>): unknown =>
      nameOf(shape) ? object : fillShape(shape, { ...path, object, name: resource }),
    /** Returns the object from its wrapper. */
    unwrap: (content: unknown): unknown => valueAt(content, path),
    /** @throws {HttpError} 400 for a form that can't contain these names */
    print: (content: unknown): string =>
      isForm ? printFormOrThrow(content, { lists, objects }) : printJson(content),
    /** Returns the name of a field of an error, without the path of the wrapper. */
    unwrapField: (field: string): string =>
      prefix.length > 1 && field.startsWith(prefix) ? field.slice(prefix.length) : field,
  };
}

/** The message for a body that ended early, or whose encoding the gateway does not support. */
export const UNREADABLE_BODY = "The body could not be read.";

/** Returns the message for a body of a wrong media type. @param names the names of the accepted media types */
export const wrongMediaType = (names: readonly string[]): string =>
  `The body must be ${names.join(" or ")} in UTF-8.`;
