/** The names of a route that a translated request used, or lost. */
import { type AuditRecord, numberedNames, type NumberedNames } from "../../audit/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { RequestContext } from "../request/context.ts";
import type { AlphaRequest } from "../request/request.ts";
import { filterInHeader } from "../stages/build-list-request.ts";

/** Returns undefined for an invalid filter or body. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Returns the names that a client sent to its route. Undefined for a request that was rejected because of its head. */
function findSent(
  request: AlphaRequest,
  { match, sent, sentFilter, body }: RequestContext,
  { sentNames, grammar }: Pack,
): NumberedNames | undefined {
  const names = sent && match && sentNames.get(match.route.name);
  if (!names || names.names.length === 0) return undefined;
  const { response, queryFilter, body: rules } = match.route;
  const readFilter = () => queryFilter?.parse(sent.query) ?? filterInHeader(request, grammar);
  const bits = names.bitsOf({
    query: sent.query,
    // The filter that was parsed for the upstream, otherwise it is parsed here.
    filter: sentFilter ?? (response === "list" ? tryRead(readFilter) : undefined),
    body: rules && body ? tryRead(() => rules.unwrap(sent.readJson())) : undefined,
  });
  // This is returned even if no bit is set, so that the store records which names are counted and were not sent.
  return numberedNames(names.names, bits);
}

/** Returns the losses of a request to a route of the pack. Undefined if not found. */
function findLost({ match, losses }: RequestContext, { lossNames }: Pack): NumberedNames | undefined {
  const names = losses.size > 0 && match && lossNames.get(match.route.name);
  if (!names) return undefined;
  const bits = names.bitsOf(losses);
  return bits && numberedNames(names.names, bits);
}

/** Returns the names of a route that a request sent and lost. */
export function namesOf(
  request: AlphaRequest,
  context: RequestContext,
  pack: Pack,
): Pick<AuditRecord, "sent" | "lost"> {
  const sent = findSent(request, context, pack);
  const lost = findLost(context, pack);
  return { ...(sent && { sent }), ...(lost && { lost }) };
}
