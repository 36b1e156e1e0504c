import type { BrownOuts } from "../brown-outs/brown-outs.ts";
import { HttpError } from "../../dialect/http-error.ts";
import { fingerprint } from "../../auth/token-hash.ts";
import type { RequestContext } from "../context.ts";

/**
 * Refuses what falls into a scheduled brown-out, as a server that fails for a while would: clients take 500 for
 * something that passes, and whoever runs them hears of it. 401 and 403 would make them throw tokens away, 404
 * would tell them that what they own is gone, 400 that their request is wrong, and 420 would have them wait in
 * silence, so that nobody noticed.
 *
 * @throws {HttpError} 500, that says when alpha answers again
 */
export function enforceBrownOut(notes: RequestContext, brownOuts: BrownOuts, status: number): void {
  const { credentials: caller, match: target } = notes;
  if (!target) return;
  const client = caller?.hash === undefined ? undefined : fingerprint(caller.hash);
  const until = brownOuts.isActive({ client, route: target.route.name })?.toISOString();
  if (until === undefined) return;
  notes.rejectedBy = "brown_out";
  notes.warnings.push(`brown-out until ${until}`);
  throw new HttpError(
    status,
    `This interface is going away and is switched off for a while. It answers again at ${until}.`,
  );
}
