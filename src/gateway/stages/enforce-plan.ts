/** Applies the plan to a request: see docs/reference/sunset-file.md. */
import { HttpError } from "../../pack/index.ts";
import { judge } from "../auth/permissions.ts";
import type { TokenStore } from "../auth/token-store.ts";
import type { ApplicationId } from "../request/context.ts";
import type { Credentials } from "../request/client.ts";
import type { Decision, PlanRules, PlanVerdict } from "../request/plan.ts";

/** The application to which a token was issued; undefined if missing, and "unknown" if it can't be read. */
export type Issuer = ApplicationId | "unknown" | undefined;

/**
 * Finds the application to which the token of a request was issued. The plan may name it, and it is known before the
 * token is used.
 */
export async function findIssuer(
  { hash, token, upstream }: Credentials,
  tokenStore: Pick<TokenStore, "find">,
): Promise<Issuer> {
  if (hash === undefined || token === undefined || upstream) return undefined;
  try {
    const issued = await tokenStore.find(hash, token);
    if (typeof issued !== "object" || issued.application === undefined) return undefined;
    return { id: issued.application, isProven: judge(issued) === "issued" };
  } catch {
    // The error is reported during authorization.
    return "unknown";
  }
}

/**
 * The header with the code of a refusal by the plan: `brown_out`, `freeze` or `sunset`. Programs can read it there,
 * regardless of the form of the client's errors.
 */
export const CODE_HEADER = "x-sunset-code";

/** Seconds by which `Retry-After` exceeds the time until the end: the clocks of replicas may differ by two seconds. */
const CLOCK_SECONDS = 2;

const sentences = (...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined).join(" ");

/**
 * Creates the error of a brown-out, which resembles a temporary failure of a server. Clients treat a 500 as temporary,
 * and their operators notice it. With 401 or 403 clients would discard their tokens, after 404 they would treat their
 * objects as deleted, and after 429 they would wait silently.
 */
function windowError(
  { stage, window }: Extract<Decision, { kind: "brown_out" }>,
  more: readonly (string | undefined)[],
): HttpError {
  const until = new Date(window.until).toISOString();
  const reason = `Error: this interface is being retired and is switched off for a while. It is available again at ${until}.`;
  const seconds = Math.max(0, Math.ceil((window.until - Date.now()) / 1000)) + CLOCK_SECONDS;
  return new HttpError(
    stage.status,
    [{ reason: sentences(reason, ...more), code: "brown_out" }],
    { by: "brown_out", isExactStatus: true, warning: `brown-out until ${until}` },
    { "retry-after": String(seconds), [CODE_HEADER]: "brown_out" },
  );
}

/** Creates the error of a decision. Its text contains the word "error", because people and alerts search logs for it. */
function errorOf(decision: Decision, link: string | undefined): HttpError {
  const more = [decision.stage.text, link === undefined ? undefined : `See ${link}`];
  if (decision.kind === "brown_out") return windowError(decision, more);
  if (decision.kind === "end")
    return new HttpError(
      410,
      [{ reason: sentences("Error: this interface has ended.", ...more), code: "sunset" }],
      { by: "sunset", isExactStatus: true },
      { [CODE_HEADER]: "sunset" },
    );
  const reason = "Error: this interface is being retired and accepts no new clients.";
  return new HttpError(
    403,
    [{ reason: sentences(reason, ...more), code: "freeze" }],
    { by: "freeze", isExactStatus: true, warning: "the client is new" },
    { [CODE_HEADER]: "freeze" },
  );
}

/**
 * Rejects a request that the plan does not permit.
 *
 * @throws {HttpError} 403 for a new client, 500 or 503 with `Retry-After` in a brown-out, 410 after the end
 */
export function enforcePlan(verdict: PlanVerdict | undefined, plan: Pick<PlanRules, "link">): void {
  if (verdict?.decision) throw errorOf(verdict.decision, plan.link());
}
