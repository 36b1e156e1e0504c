/** The statuses and codes of a pack's errors. */
import type { z } from "zod";
import type { errorCode, ErrorsDefinition } from "./errors-definition.ts";

/** The upstream's status where a rate limit is exceeded (RFC 6585). */
export const TOO_MANY_REQUESTS = 429;

/** The status where the client has the object already (RFC 9110, section 15.4.5). */
export const NOT_MODIFIED = 304;

/** The status where the upstream was not done in time (RFC 9110, section 15.6.5). */
export const GATEWAY_TIMEOUT = 504;

/** Whether a status is a 2xx. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** The meaning of an error of the upstream, by the upstream's status. A redirect is a failure, since it is not followed. */
export function meaningOf(status: number): "failed" | "limited" | "refused" {
  if (status === TOO_MANY_REQUESTS) return "limited";
  return status < 400 || status >= 500 ? "failed" : "refused";
}

/** The class of a status, `4XX`. */
export const classOf = (status: number): string => `${Math.floor(status / 100)}XX`;

/** The value of a status in a table of a pack. The most exact key counts. */
const byStatus = <T>(table: Readonly<Record<string, T | undefined>>, status: number): T | undefined =>
  table[status] ?? table[classOf(status)] ?? table["default"];

/** Where a request breaks a rule: in its body, or in its query, filter or page. */
export type InvalidPart = "body" | "query";

/** Translates statuses to the client's. */
export type Statuses = ReturnType<typeof createStatuses>;

/** Compiles the statuses of a pack. A redirect counts as a 500, since it is not followed. */
export function createStatuses({
  statuses = {},
  phrases = {},
  validation,
  unknown_in_body: unknownInBody = 404,
}: ErrorsDefinition) {
  function translate(status: number): number {
    const error = status < 400 ? 500 : status;
    return byStatus(statuses, error) ?? error;
  }
  const invalid = translate(400);
  const invalidBody = validation?.status ?? invalid;
  const invalidQuery = validation?.query?.status ?? invalidBody;
  const own = [401, 403, 404, TOO_MANY_REQUESTS, 500].map(translate);
  return {
    /** Returns the client's status of an upstream error, or of an error of the gateway. */
    translate,
    /** The status that replaces an upstream's 404 if the 404 means that an id in a body is unknown. */
    unknownInBody,
    /** The same for a deliberate status, which only a rule for exactly this status changes. */
    translateExactly: (status: number): number => statuses[status] ?? status,
    /** The client's status of an invalid request. */
    invalid,
    /** The client's status of a request whose body breaks a rule, and of one whose query, filter or page does. */
    validation: { body: invalidBody, query: invalidQuery } satisfies Record<InvalidPart, number>,
    /** The client's status of a failure of the upstream or of the gateway. */
    failed: translate(500),
    /** The client's status where a rate limit is exceeded. */
    limited: translate(TOO_MANY_REQUESTS),
    /** All statuses of errors that the gateway itself responds with. */
    all: [...new Set([invalid, invalidBody, invalidQuery, ...own])],
    /** Whether clients also get statuses of the upstream that are not in `all`. */
    passesOthers: statuses["default"] === undefined && statuses["4XX"] === undefined,
    /** Reason phrases that are not the standard ones, by status. */
    phrases,
  };
}

/** The rules whose codes replace a missing one, in this order. */
const WIDER: Readonly<Record<string, readonly string[]>> = {
  required_header: ["required"],
  page_range: ["page"],
  size: ["page"],
  size_range: ["size", "page_range", "page"],
};

/** The client's form of an upstream code. Without `code` clients get none. */
type CodeRule = z.infer<typeof errorCode>;

/** Translates codes to the client's. */
export type ErrorCodes = ReturnType<typeof createErrorCodes>;

/** Compiles the codes of a pack: the client's code for each upstream code, and for errors without a code. */
export function createErrorCodes({
  codes = {},
  other_codes: others = "keep",
  status_codes: statusCodes = {},
  validation: { codes: body = {}, query } = {},
}: ErrorsDefinition) {
  const rules = new Map(Object.entries(codes));
  const byRule: Readonly<Record<InvalidPart, Readonly<Record<string, string>>>> = {
    body,
    query: { ...body, ...query?.codes },
  };
  return {
    /** Translates an upstream code. */
    translate(code: string): CodeRule {
      const rule = rules.get(code);
      if (!rule && others === "drop") return {};
      return { code, ...(rule ?? (typeof others === "object" ? others : {})) };
    },
    /** Returns the code of an error that has none. Undefined if clients get none. */
    ofStatus: (status: number): string | undefined => byStatus(statusCodes, status),
    /** Returns the code of a broken rule. Undefined if it has none. */
    ofRule(rule = "default", part: InvalidPart): string | undefined {
      const found = [rule, ...(WIDER[rule] ?? []), "default"].find(
        (each) => byRule[part][each] !== undefined,
      );
      return found === undefined ? undefined : byRule[part][found];
    },
  };
}
