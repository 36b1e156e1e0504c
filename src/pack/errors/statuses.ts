/** The statuses and codes of a pack's errors. */
import type { z } from "zod";
import type { errorCode, ErrorsDefinition } from "./errors-definition.ts";

/** The upstream's status for an exceeded rate limit (RFC 6585). */
export const TOO_MANY_REQUESTS = 429;

/** The status if the client already has the object (RFC 9110, section 15.4.5). */
export const NOT_MODIFIED = 304;

/** The status if the upstream did not respond in time (RFC 9110, section 15.6.5). */
export const GATEWAY_TIMEOUT = 504;

/** Whether a status is a 2xx. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** Returns the meaning of an upstream error, by its status. A redirect is a failure, since it is not followed. */
export function meaningOf(status: number): "failed" | "limited" | "refused" {
  if (status === TOO_MANY_REQUESTS) return "limited";
  return status < 400 || status >= 500 ? "failed" : "refused";
}

/** Returns the class of a status, such as `4XX`. */
export const classOf = (status: number): string => `${Math.floor(status / 100)}XX`;

/** Returns the value for a status in a table of a pack. The most specific key is used. */
const byStatus = <T>(table: Readonly<Record<string, T | undefined>>, status: number): T | undefined =>
  table[status] ?? table[classOf(status)] ?? table["default"];

/** The part of a request that breaks a rule: its body, or its query (filter and page included). */
export type InvalidPart = "body" | "query";

/** Translates statuses to the client's. */
export type Statuses = ReturnType<typeof createStatuses>;

/** Compiles the statuses of a pack. A redirect is treated as a 500, since it is not followed. */
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
    /** Returns the client's status for an upstream error, or for an error of the gateway. */
    translate,
    /** The status that replaces an upstream's 404 if the 404 means that an id in a body is unknown. */
    unknownInBody,
    /** Returns the client's status for a deliberate status, which only a rule for exactly this status changes. */
    translateExactly: (status: number): number => statuses[status] ?? status,
    /** The client's status for an invalid request. */
    invalid,
    /** The client's status for a request whose body breaks a rule, and for one whose query, filter or page does. */
    validation: { body: invalidBody, query: invalidQuery } satisfies Record<InvalidPart, number>,
    /** The client's status for a failure of the upstream or of the gateway. */
    failed: translate(500),
    /** The client's status for an exceeded rate limit. */
    limited: translate(TOO_MANY_REQUESTS),
    /** The statuses of errors that the gateway itself sends, and of those that the table contains. */
    all: [...new Set([invalid, invalidBody, invalidQuery, ...own, ...Object.values(statuses)])],
    /** Whether clients can receive upstream statuses that are not in `all`. */
    passesOthers:
      statuses["default"] === undefined && (statuses["4XX"] === undefined || statuses["5XX"] === undefined),
    /** Reason phrases that are not the standard ones, by status. */
    phrases,
  };
}

/** The rules whose codes replace a missing code, in this order. */
const WIDER: Readonly<Record<string, readonly string[]>> = {
  required_header: ["required"],
  page_range: ["page"],
  size: ["page"],
  size_range: ["size", "page_range", "page"],
};

/** The client's form of an upstream code. If `code` is missing, clients get no code. */
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
    /** Returns the code of an error that has none. Undefined if clients get no code. */
    ofStatus: (status: number): string | undefined => byStatus(statusCodes, status),
    /** Returns the code for a broken rule. Undefined if the pack defines none. */
    ofRule(rule = "default", part: InvalidPart): string | undefined {
      const found = [rule, ...(WIDER[rule] ?? []), "default"].find(
        (each) => byRule[part][each] !== undefined,
      );
      return found === undefined ? undefined : byRule[part][found];
    },
  };
}
