import type { Pack } from "../mapping/pack.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { GrantBook } from "../tokens/grants.ts";
import type { TokenFacts } from "../tokens/token-facts.ts";
import type { Turns } from "../tokens/turns.ts";
import type { FileUpstream } from "../upstream/stream.ts";
import type { Catalogs } from "../upstream/catalogs.ts";
import { Refusal } from "../dialect/refusal.ts";
import type { JsonObject } from "../mapping/reading.ts";
import type { BrownOuts } from "../brown-outs/brown-outs.ts";
import { admit, admitToSome, grantsOf, isNothing } from "./admit.ts";
import type { AnswerRules } from "./answer-back.ts";
import { brownOut } from "./brown-out.ts";
import { callsFor, v4Credentials, type CallParts } from "./call-v4.ts";
import { checkToken } from "./check-token.ts";
import { identify } from "./credentials.ts";
import { carriesFor } from "./carry-v4.ts";
import { withEnds, type EndParts, type Road } from "./ends.ts";
import type { Caller, Notes } from "./exchange.ts";
import { chooseTarget, findRoute, targetsOf } from "./find-route.ts";
import { fulfil } from "./fulfil.ts";
import { createKeptReads } from "./kept-reads.ts";
import { meter } from "./meter.ts";
import { anonymous, present, type Presented } from "./present.ts";
import { readBody, receiveBody } from "./read-body.ts";
import { takeTurn } from "./take-turn.ts";
import { traceparentOf } from "./trace.ts";

export interface RoadParts extends CallParts, EndParts {
  readonly files: FileUpstream;
  readonly pack: Pack;
  readonly catalogs: Catalogs;
  readonly limits: RateLimits;
  readonly turns: Turns;
  /** Tokens of the gateway's own exchange. */
  readonly grants: Pick<GrantBook, "find" | "findOther" | "keep" | "nameLevels" | "levelsNamed">;
  readonly rules: AnswerRules;
  /** When alpha is switched off, and for whom. */
  readonly brownOuts: BrownOuts;
  /** Scheme of the native lane, where that is open. */
  readonly nativeScheme?: string | undefined;
}

/** The alpha lane, the whole road of a request. Every stop is a function of its own file. */
export function buildRoad(parts: RoadParts): Road {
  const { pack, scopes, tokens, grants, limits, catalogs, rules } = parts;
  const kept = createKeptReads();
  const limitedStatus = pack.dialect.statuses.rate_limited.alpha;

  /** Without a wait where the answer is at hand. */
  const factsOf = ({ hash }: Caller) => (hash === undefined ? undefined : tokens.get(hash));

  /** A token that is known as refused may have been renewed elsewhere since. */
  async function renewed(presented: Presented, notes: Notes): Promise<void> {
    if (await presented.replace(presented.caller)) notes.facts = await factsOf(presented.caller);
  }

  /** Nobody is kept from what is public by a token that v4 would not take. */
  async function presentPublic(client: Caller, facts: TokenFacts | undefined): Promise<Presented> {
    const presented = facts?.refused ? anonymous : await present(client, grants).catch(() => anonymous);
    return typeof presented.grant === "object" && presented.grant.over ? anonymous : presented;
  }

  return withEnds(async function travel(request, notes) {
    const client = identify(request, pack.dialect.alpha.scheme, parts.nativeScheme);
    notes.caller = client;
    const found = targetsOf(findRoute(request, pack));
    notes.target = found instanceof Refusal ? undefined : found[0];
    const known = factsOf(client);
    notes.facts = known instanceof Promise ? await known : known;
    notes.passed.credentials = performance.now();
    await meter(request, client, notes, { limits, limitedStatus });
    notes.passed.limits = performance.now();
    brownOut(notes, parts.brownOuts, pack.dialect.statuses.other);
    const isPublic = notes.target?.route.access === "public";
    const presented = await (isPublic ? presentPublic(client, notes.facts) : present(client, grants));
    if (presented.caller.hash !== client.hash) notes.facts = await factsOf(presented.caller);
    if (notes.facts?.refused) await renewed(presented, notes);
    let target = admitToSome(presented, found, { scopes, facts: notes.facts });
    const accepted = notes.facts?.refused === false || typeof presented.grant === "object";
    const bytes = request.readBody && (await receiveBody(request, notes, accepted));
    let json: JsonObject | undefined;
    const sent = (): JsonObject => (json ??= readBody(request, bytes));
    if (!(found instanceof Refusal) && found.length > 1)
      notes.target = target = await chooseTarget(found, sent);
    notes.facts = await takeTurn(presented.caller, target, notes, parts);
    if (notes.facts?.refused) await renewed(presented, notes);
    admit(presented, target, { scopes, facts: notes.facts });
    // Not before v4 has accepted the token: a made-up one reads nothing.
    const { hash } = presented.caller;
    if (hash !== undefined && notes.facts?.refused === false)
      await catalogs.refreshWith(hash, v4Credentials(presented.caller, parts.dialect.scheme));
    notes.passed.admission = performance.now();
    const owner = client.hash;
    notes.traceparent = traceparentOf(request);
    const calls = callsFor(request, presented, parts, notes);
    const call = owner === undefined ? calls : kept.watching(owner, calls);
    if (target.route.takes && pack.tokenCheck && notes.facts?.refused !== false) {
      await checkToken(pack.tokenCheck, call, target, rules, notes);
      notes.facts = { refused: false, grants: undefined };
    }
    const carry = carriesFor(request, presented, parts, notes);
    const may = async () => grantsOf(presented.grant, await factsOf(presented.caller));
    const lacksScopes = async (): Promise<boolean> => {
      const levels = await may();
      return levels !== undefined && isNothing(levels);
    };
    const levels = { grants, scopes, caller: may, notes, now: Date.now };
    const ways = { call, carry, kept, owner, lacksScopes, levels };
    const work = { request, sent, target, pack, rules, catalogs, ...ways, notes };
    const body = await fulfil(work);
    notes.passed.back = performance.now();
    return { status: 200, body };
  }, parts);
}
