/** The sender of a request, as the plan asks about it. */
import type { Endpoint } from "../../pack/index.ts";
import { type RequestContext, provenIdentity } from "./context.ts";
import type { AuthenticatedClient } from "./client.ts";
import { learnToken, type ProofDependencies, type TokenProof } from "./prove-token.ts";
import type { AlphaRequest } from "./request.ts";
import type { PlanSender } from "./stages/enforce-plan.ts";

/** What is known of the sender. */
interface GivenSender {
  readonly client: AuthenticatedClient;
  readonly issuer: PlanSender["issuer"];
  /** The call that shows whether v4 accepts a token. */
  readonly check: Endpoint | undefined;
  /** Gives back what the request took of the rate limit of its address. */
  readonly credit: TokenProof["creditAddress"];
}

/**
 * Creates what the plan asks. v4 is asked about an unknown token only if the plan needs to know it; then the context has
 * what v4 said.
 */
export const createPlanSender = (
  request: AlphaRequest,
  context: RequestContext,
  { client, issuer, check, credit }: GivenSender,
  dependencies: ProofDependencies,
): PlanSender => ({
  identity: () => provenIdentity(request, context),
  issuer,
  address: request.address,
  async learnToken() {
    const proof = { check, creditAddress: credit, isExclusive: true, dependencies };
    return (context.client = await learnToken(request, client, proof));
  },
});
