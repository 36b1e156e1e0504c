/** The headers of the client's responses: upstream headers, constants, and results of expressions. */
import type { SourceLocation } from "../../base/index.ts";
import { toEntityTag } from "./entity-tag.ts";
import { joinValue } from "../expressions/client-head.ts";
import { ExpressionError } from "../../jsonata/index.ts";
import type { Scope } from "../translation-context.ts";
import type { ResponseHeaderDefinition } from "./headers-definition.ts";
import { compileHeaderExpression, toHeaderText } from "./header-expression.ts";

/** The sources of the headers of a response. */
export interface Answer {
  /** The client's status. */
  readonly status: number;
  /** The known facts about the request, and the upstream's response if there is one. */
  readonly scope: Scope;
  /** The upstream's object. */
  readonly upstream: () => unknown;
  /** The client's object. */
  readonly object: () => unknown;
  /** Returns the client's path for an address of the upstream. */
  readonly locate: (address: string) => string | undefined;
  /** The address before the path in absolute links. */
  readonly linkBase: string;
  /** Receives the error of an expression. Its header is omitted. */
  readonly onError: (error: ExpressionError) => void;
}

/** Returns headers with lower-case names. */
export type WriteResponseHeaders = (answer: Answer) => Record<string, string>;

type Definitions = Readonly<Record<string, ResponseHeaderDefinition>>;

/** Headers that contain an address of the upstream. They are never sent to clients unchanged. */
export const ADDRESSES: ReadonlySet<string> = new Set(["location", "content-location"]);

/** Matches a value of a response header. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The variables that only these expressions can read. The status is the client's. */
const OWN: Readonly<Record<string, (answer: Pick<Answer, "object" | "status">) => unknown>> = {
  object: ({ object }) => object(),
  status: ({ status }) => status,
};

/** Converts a time to an HTTP date (RFC 9110, section 5.6.7). Undefined for any other text. */
function toHttpDate(text: string): string | undefined {
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : new Date(time).toUTCString();
}

/** Headers whose values have a fixed form. Texts that can't be converted to it are omitted. */
const FORMS: Readonly<Record<string, (text: string) => string | undefined>> = {
  etag: toEntityTag,
  "last-modified": toHttpDate,
};

/** Finds the expression of a header. */
type Locate = (name: string) => SourceLocation;

/** Compiles the expression of one header. */
function compileRead(
  name: string,
  source: string | undefined,
  location: SourceLocation,
): ((answer: Pick<Answer, "status" | "scope" | "upstream" | "object">) => string | undefined) | undefined {
  if (source === undefined) return undefined;
  const evaluate = compileHeaderExpression(source, OWN, location, "response");
  const { [name]: toForm = (text: string): string | undefined => text } = FORMS;
  return (answer) => {
    const text = toHeaderText(evaluate(answer.upstream(), answer.scope, answer));
    return text === undefined ? undefined : toForm(text);
  };
}

/** Compiles one header. */
function compileHeader(
  name: string,
  { upstream, const: constant, read: expression, links }: ResponseHeaderDefinition,
  location: SourceLocation,
): (answer: Answer) => string | undefined {
  if (constant !== undefined) return () => constant;
  const source = upstream?.toLowerCase() ?? "";
  const isAddress = ADDRESSES.has(source);
  const isAbsolute = links === "absolute";
  const read = compileRead(name, expression, location);
  const tryToRead = (answer: Answer): string | undefined => {
    try {
      return read?.(answer);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      answer.onError(error);
      return undefined;
    }
  };
  return (answer) => {
    const received = joinValue(answer.scope.response?.headers[source]);
    const passed = received !== undefined && isAddress ? answer.locate(received) : received;
    const text = passed ?? tryToRead(answer);
    const value = isAbsolute && text?.startsWith("/") ? answer.linkBase + text : text;
    return value !== undefined && SENDABLE.test(value) ? value : undefined;
  };
}

/**
 * Compiles the headers of responses. Undefined if missing.
 *
 * @param isFor whether the responses are successful or errors
 */
export function compileResponseHeaders(
  definitions: Definitions,
  isFor: "success" | "error",
  locate: Locate,
): WriteResponseHeaders | undefined {
  const headers = Object.entries(definitions)
    .filter(([, { on }]) => on === isFor || on === "always")
    .map(([name, rule]) => ({
      name: name.toLowerCase(),
      valueOf: compileHeader(name.toLowerCase(), rule, locate(name)),
    }));
  if (headers.length === 0) return undefined;
  return (answer) => {
    const values: Record<string, string> = {};
    for (const { name, valueOf } of headers) {
      const value = valueOf(answer);
      if (value !== undefined) values[name] = value;
    }
    return values;
  };
}

/** Returns the rule of a header that the pack creates without an upstream header. */
const findMade = (definitions: Definitions, wanted: string) =>
  Object.entries(definitions).find(
    ([name, { upstream, read }]) =>
      name.toLowerCase() === wanted && upstream === undefined && read !== undefined,
  );

/** Whether the pack creates the `Last-Modified` of responses. */
export const makesDate = (definitions: Definitions): boolean =>
  findMade(definitions, "last-modified") !== undefined;

/** Compiles the entity tag that the gateway creates from an upstream object. Undefined if the pack creates none. */
export function compileEntityTag(
  definitions: Definitions,
  locate: Locate,
): ((object: unknown, scope: Scope) => string | undefined) | undefined {
  const [name, rule] = findMade(definitions, "etag") ?? [];
  const read = name === undefined ? undefined : compileRead("etag", rule?.read, locate(name));
  return (
    read && ((object, scope) => read({ status: 200, scope, upstream: () => object, object: () => undefined }))
  );
}
