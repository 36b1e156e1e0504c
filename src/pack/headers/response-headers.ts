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
  /** The client's response. */
  readonly object: () => unknown;
  /** Returns the client's path of an address of the upstream. */
  readonly locate: (address: string) => string | undefined;
  /** The address before the path in absolute links. */
  readonly linkBase: string;
  /** Gets the error of an expression. Its header is left out. */
  readonly onError: (error: ExpressionError) => void;
}

/** Returns headers with lower-case names. */
export type WriteResponseHeaders = (answer: Answer) => Record<string, string>;

type Definitions = Readonly<Record<string, ResponseHeaderDefinition>>;

/** Headers whose value is an address of the upstream. Clients must never see it. */
export const ADDRESSES: ReadonlySet<string> = new Set(["location", "content-location"]);

/** Characters of a value that a response may have. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The variables that only these expressions have. The status is the client's. */
const OWN: Readonly<Record<string, (answer: Pick<Answer, "object" | "status">) => unknown>> = {
  object: ({ object }) => object(),
  status: ({ status }) => status,
};

/** A time as an HTTP date (RFC 9110, section 5.6.7). Undefined for any other text. */
function toHttpDate(text: string): string | undefined {
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : new Date(time).toUTCString();
}

/** Headers whose values have a form. A text that can't have it is left out. */
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
 * Compiles the headers of responses. Undefined without any.
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

/** The rule of a header that the pack makes without one of the upstream. */
const findMade = (definitions: Definitions, wanted: string) =>
  Object.entries(definitions).find(
    ([name, { upstream, read }]) =>
      name.toLowerCase() === wanted && upstream === undefined && read !== undefined,
  );

/** Whether the pack makes the `Last-Modified` of responses. */
export const makesDate = (definitions: Definitions): boolean =>
  findMade(definitions, "last-modified") !== undefined;

/** Compiles the entity tag that the gateway makes of an upstream object. Undefined if the pack makes none. */
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
