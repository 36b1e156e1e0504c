import type { TestGateway } from "../../support/gateway.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Waits until the candidate of a gateway that starts is offered, or rejected. It is read while the gateway serves already. */
export const waitForCandidate = ({ requestAdmin }: TestGateway): Promise<unknown> =>
  waitFor(async () =>
    /^alpha_gateway_candidate_(?:offered 1|last_reload_successful 0)$/m.test(
      (await requestAdmin("GET /metrics")).text,
    ),
  );
