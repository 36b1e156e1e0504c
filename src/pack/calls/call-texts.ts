/** Descriptions of a call of a route: the reason for it, and its purpose for programs without the gateway. */
import type { KeyContext, KeyResource } from "../keys/key-context.ts";
import type { CallDefinition } from "./call-definition.ts";
import type { Endpoint } from "./endpoint.ts";

/** Returns the fields of a response that need a call. */
const fieldsOf = (name: string, { fields }: KeyResource): string[] =>
  [...fields].flatMap(([field, { read = "" }]) =>
    new RegExp(String.raw`\$calls\.${RegExp.escape(name)}\b`).test(read) ? [field] : [],
  );

function describeTime({ repeat, status }: CallDefinition): string[] {
  const after = status === undefined ? [] : [`after a ${status}`];
  return repeat
    ? [
        ...after,
        `every ${repeat.interval_ms} ms for at most ${repeat.timeout_ms} ms`,
        `until ${repeat.until}`,
      ]
    : after;
}

/** Describes the reason for a call before the main call, and its condition. */
function describeBefore({ name, not_found_field: field, ...call }: CallDefinition): string {
  if (call.repeat) return ["before the call", ...describeTime(call)].join(", ");
  if (field !== undefined) return `before the call, to validate "${field}"`;
  return name === undefined ? "before the call" : `before the call, for expressions that use $calls.${name}`;
}

/** Describes the reason for a different call, and its condition. */
function describeAfter(call: CallDefinition): string {
  const { name, answer, each, all_pages: allPages, when } = call;
  const purpose =
    answer !== undefined
      ? ["after the call", "for the response"]
      : name === undefined
        ? ["after the call"]
        : ["additionally", `for "${name}"`];
  return [
    ...purpose,
    ...describeTime(call),
    ...(each === undefined ? [] : ["once for each value"]),
    ...(allPages ? ["all pages"] : []),
    ...(when === undefined ? [] : [`if ${when}`]),
  ].join(", ");
}

function describeForGuide(
  { name, answer, part, repeat, status }: CallDefinition,
  { method }: Endpoint,
  { resource }: KeyContext,
): string {
  if (part !== undefined) return "for the other part";
  if (repeat && status !== undefined) return `then, after a ${status}, until the operation is done`;
  if (repeat) return "then, until the operation is done";
  if (answer !== undefined) return "then, to read the result";
  if (method !== "GET") return "then";
  return `for ${(name === undefined ? "" : fieldsOf(name, resource).join(", ") || name) || "the response"}, if you need it`;
}

/** Describes a call. */
export function describeCall(
  definition: CallDefinition,
  endpoint: Endpoint,
  context: KeyContext,
): {
  /** The reason for the call and its condition, for authors. */
  readonly why: string;
  /** The same for programs that call the upstream without the gateway. Undefined if only the gateway needs the call. */
  readonly guide: string | undefined;
} {
  if (definition.at === "before") return { why: describeBefore(definition), guide: undefined };
  const why = definition.part === undefined ? describeAfter(definition) : "a part of the same object";
  return { why, guide: describeForGuide(definition, endpoint, context) };
}
