import { fingerprint } from "../../auth/token-hash.ts";
import { HttpError } from "../../dialect/http-error.ts";
import type { RateLimits } from "../../rate-limit/rate-limits.ts";
import type { BrownOuts } from "../brown-outs/brown-outs.ts";
import type { AlphaRequest, LimitContext, RouteMatch, TranslationReport } from "../context.ts";
import type { AuthenticatedClient } from "./authenticate.ts";

/**
 * Counts a request against the limit of its token; against that of its address while v4 has not accepted the token.
 *
 * @returns how to credit the address once v4 accepts the token; undefined where the address was not charged
 * @throws {HttpError} with alpha's status for a rate limit
 */
export async function enforceRateLimit(
  request: AlphaRequest,
  { credentials, tokenInfo }: AuthenticatedClient,
  match: RouteMatch | undefined,
  context: LimitContext,
  { limits, limitedStatus }: { readonly limits: RateLimits; readonly limitedStatus: number },
): Promise<(() => Promise<void>) | undefined> {
  const { status, creditAddress } = await limits.consume({
    token: credentials.hash,
    address: request.address,
    isKnownToken: tokenInfo?.refused === false,
    isCreate: match?.route.limit === "create",
  });
  context.rateLimitStatus = status;
  if (status.isAllowed) return creditAddress;
  context.rejectedBy = "limit";
  throw new HttpError(limitedStatus, "Too many requests. Try again later.");
}

/**
 * Rejects a request during a scheduled brown-out, as a server would that fails for a while. Clients take a 500 for
 * temporary, and their operators notice it. With 401 or 403 clients would discard their tokens, with 404 they would
 * believe that their objects are gone, with 400 that their request is wrong. With 420 they would wait in silence.
 *
 * @throws {HttpError} 500, with the end of the brown-out
 */
export function enforceBrownOut(
  { credentials }: AuthenticatedClient,
  match: RouteMatch | undefined,
  context: LimitContext & Pick<TranslationReport, "warnings">,
  { brownOuts, status }: { readonly brownOuts: BrownOuts; readonly status: number },
): void {
  if (!match) return;
  const client = credentials.hash === undefined ? undefined : fingerprint(credentials.hash);
  const until = brownOuts.isActive({ client, route: match.route.name })?.toISOString();
  if (until === undefined) return;
  context.rejectedBy = "brown_out";
  context.warnings.push(`brown-out until ${until}`);
  throw new HttpError(
    status,
    `This interface is going away and is switched off for a while. It is available again at ${until}.`,
  );
}
