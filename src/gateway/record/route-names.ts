/** Which names of its route a request had: what the client sent of them, and what was lost. */
import { numberedNames, type NumberedNames } from "../../audit/index.ts";
import type { Grammar } from "../../pack/index.ts";
import type { RequestContext } from "../pipeline/context.ts";
import type { AlphaRequest } from "../pipeline/request.ts";
import { filterInHeader } from "../pipeline/stages/build-list-request.ts";
import type { RecordOptions } from "./recorded-request.ts";

/** The client's filter: as it was parsed for the upstream, else parsed here. Undefined for an invalid one. */
function sentFilterOf(
  request: AlphaRequest,
  { match, sentFilter, sent }: Pick<RequestContext, "match" | "sentFilter" | "sent">,
  grammar: Grammar,
) {
  if (sentFilter || !match || match.route.response !== "list" || !sent) return sentFilter;
  try {
    return match.route.queryFilter?.parse(sent.query) ?? filterInHeader(request, grammar);
  } catch {
    return undefined;
  }
}

/** The object or list of the client's body; undefined for one that is invalid. */
function sentObjectOf({ match, sent, body }: Pick<RequestContext, "match" | "sent" | "body">): unknown {
  const { body: rules } = match?.route ?? {};
  if (!rules || !sent || !body) return undefined;
  try {
    return rules.unwrap(sent.readJson());
  } catch {
    return undefined;
  }
}

/** Which names of its route a client sent; undefined for a request that was rejected by its head. */
export function sentMembersOf(
  request: AlphaRequest,
  context: RequestContext,
  { sentNames, grammar }: RecordOptions,
): NumberedNames | undefined {
  const { match, sent } = context;
  const names = sent && match && sentNames.get(match.route.name);
  if (!names || names.names.length === 0) return undefined;
  const bits = names.bitsOf({
    query: sent.query,
    filter: sentFilterOf(request, context, grammar),
    body: sentObjectOf(context),
  });
  // Also without any bit: the store learns which names are counted, so that nobody is known to send a name.
  return numberedNames(names.names, bits);
}

/** Which losses of its route a request had; undefined for none, and for requests to other routes than those of the pack. */
export function lostNamesOf(
  { match, losses }: Pick<RequestContext, "match" | "losses">,
  { lossNames }: RecordOptions,
): NumberedNames | undefined {
  const names = losses.size > 0 && match && lossNames.get(match.route.name);
  if (!names) return undefined;
  const bits = names.bitsOf(losses);
  return bits && numberedNames(names.names, bits);
}
