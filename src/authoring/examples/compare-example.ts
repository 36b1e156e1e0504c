/** Compares the expectations of a golden case with the results of the pack. */
import { isDeepStrictEqual } from "node:util";
import type { Route } from "../../pack/index.ts";
import { compare, type DryRunResponse, isJsonType } from "../../compare/index.ts";
import { splitCall, type Example, type ExampleDefinition } from "./example.ts";

/** A request that v4 received, and the index of the expected request with which it is compared. -1 if none is left. */
export interface ReceivedCall {
  readonly index: number;
  readonly request: string;
  /** The headers, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly filter: unknown;
  readonly body: unknown;
}

const format = (value: unknown): string => JSON.stringify(value) ?? "nothing";

/** Returns the members in which two bodies differ. */
const compareBody = (actual: unknown, expected: unknown): string[] =>
  compare(expected, actual, {}, "body").map(
    ({ field, old, new: found }) => `${field} is ${format(found)}, expected ${format(old)}`,
  );

/** A part of an example that is not as expected. */
export interface ExampleDifference {
  /** The location of the part in the file, or the nearest location. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** The actual value. If it is missing, the example can't be updated. */
  readonly actual?: unknown;
  /** Whether a second difference caused this one. It is updated, but not reported. */
  readonly isConsequence?: true;
}

/** An example, and its differences from the pack's results. */
export interface ExampleResult {
  readonly example: Example;
  /** The route of the request; undefined if none matches. */
  readonly route: Route | undefined;
  readonly differences: readonly ExampleDifference[];
}

type ExpectedHeaders = Readonly<Record<string, string | null>>;

/** Returns the differences of the headers in a golden case. @param what the part of the message that contains the headers */
const compareHeaders = (
  actual: Readonly<Record<string, string>>,
  expected: ExpectedHeaders = {},
  path: readonly PropertyKey[],
  what: string,
): ExampleDifference[] =>
  compare(
    expected,
    Object.fromEntries(Object.keys(expected).map((name) => [name, actual[name.toLowerCase()] ?? null])),
  ).map(({ field: name, old: value, new: found }) => ({
    path: [...path, name],
    message: `${what} ${name} is ${found === null ? "missing" : format(found)}, expected ${value === null ? "none" : format(value)}`,
    actual: found,
  }));

/** Returns the differences of the upstream requests. */
export function compareRequests(
  received: readonly ReceivedCall[],
  { upstream }: ExampleDefinition,
  prefix: string,
): ExampleDifference[] {
  const differences = received.flatMap(({ index, ...actual }): ExampleDifference[] => {
    const written = upstream[index];
    if (!written)
      return [{ path: ["upstream"], message: `one more upstream request than expected: ${actual.request}` }];
    const { method, path } = splitCall(written.request, prefix);
    const expected = { request: `${method} ${path}`, filter: written.filter, body: written.body };
    const [actualMethod, actualPath = ""] = actual.request.split(" ");
    const isFull = written.request.includes(` ${prefix}/`);
    const request = isFull ? actual.request : `${actualMethod} ${actualPath.slice(prefix.length)}`;
    return [
      ...compareHeaders(actual.headers, written.headers, ["upstream", index, "headers"], "upstream header"),
      ...(["request", "filter", "body"] as const).flatMap((part) =>
        compare(expected[part], actual[part]).length === 0
          ? []
          : [
              {
                path: ["upstream", index, part],
                message: `upstream ${part} is ${format(actual[part])}, expected ${format(expected[part])}`,
                actual: part === "request" ? request : actual[part],
              },
            ],
      ),
    ];
  });
  const sent = new Set(received.map(({ index }) => index));
  const missing = upstream.flatMap(({ request }, index) =>
    sent.has(index) ? [] : [{ path: ["upstream", index], message: `${request} was not sent` }],
  );
  return [...differences, ...missing];
}

/** Returns the difference of the losses, if a golden case contains them. */
function compareLosses(
  actual: readonly string[],
  expected: readonly string[] | undefined,
): ExampleDifference[] {
  if (expected === undefined || isDeepStrictEqual(actual.toSorted(), expected.toSorted())) return [];
  const message = `losses are ${format(actual)}, expected ${format(expected)}`;
  return [{ path: ["losses"], message, actual }];
}

/** Returns the body of a response: its JSON, or its text if it is not JSON; undefined if not found. */
function contentOf({ body, headers }: DryRunResponse["response"]): unknown {
  if (body === "") return undefined;
  return isJsonType(headers["content-type"] ?? "") ? JSON.parse(body) : body;
}

/** Returns the differences of the response. A failure of the pack is never expected. */
export function compareResponse(
  { response, context }: DryRunResponse,
  { response: expected, losses }: ExampleDefinition,
): ExampleDifference[] {
  const body = expected.file === undefined ? contentOf(response) : undefined;
  const hasFailed = response.status >= 500 && context.warnings.length > 0;
  /** Creates the difference of a part, which can be updated unless the pack failed. */
  const differ = (part: string, message: string, actual: unknown): ExampleDifference => ({
    path: ["response", part],
    message,
    ...(!hasFailed && { actual }),
  });
  if (response.status !== expected.status) {
    const message = `status is ${response.status}, expected ${expected.status}: ${response.body}`;
    const status = differ("status", [message, ...context.warnings].join("; "), response.status);
    if (hasFailed || isDeepStrictEqual(body, expected.body)) return [status];
    return [status, { ...differ("body", "the body is that of another status", body), isConsequence: true }];
  }
  if (expected.file !== response.file?.type)
    return [{ path: ["response"], message: `file is ${response.file?.type}, expected ${expected.file}` }];
  const headers = [
    ...compareHeaders(response.headers, expected.headers, ["response", "headers"], "header"),
    ...compareLosses([...context.losses], losses),
  ];
  if (expected.file !== undefined) return headers;
  const bodies = compareBody(body, expected.body).map((message) => differ("body", message, body));
  return [...headers, ...bodies];
}
