/** Compares an old and a new service as the gateway does: compare, ask both again later, decide. */
import type { Pack } from "../../src/pack/load/pack.ts";
import { createAnswerRules } from "../../src/compare/answers/compare-answers.ts";
import type { AnswerPair, Difference } from "../../src/compare/answers/comparison.ts";
import { comparePair, confirm, recordOldPair } from "../../src/compare/answers/judge.ts";
import { VolatileFields } from "../../src/compare/answers/volatile-fields.ts";
import type { Clock, Random } from "./noise.ts";
import type { ClientRequest, Service } from "./services.ts";

/** What is compared. */
export interface Setup {
  readonly pack: Pack;
  readonly old: Service;
  readonly new: Service;
  readonly clock: Clock;
  readonly random: Random;
  /** Is called after each answer, as time goes by. */
  readonly afterAnswer?: () => Promise<void>;
}

/** Compares requests one after the other. */
export interface Comparer {
  readonly volatile: VolatileFields;
  /** Returns the result of one request, its differences, and the name of its route. */
  compare(
    request: ClientRequest,
  ): Promise<{ result: string; differences: readonly Difference[]; route: string }>;
}

/** Milliseconds between two requests, and until both services are asked again. */
const BETWEEN = 20;
const AGAIN = 2000;

/** Clients that send the requests in turn. */
const CLIENTS = 5;

/** Creates the comparison of two services that knows nothing yet. */
export function createComparer({ pack, old, new: other, clock, random, afterAnswer }: Setup): Comparer {
  const known = new VolatileFields();
  let requests = 0;
  async function ask(request: ClientRequest): Promise<AnswerPair> {
    const answer = await old(request);
    await afterAnswer?.();
    const pair = { old: answer, new: await other(request) };
    await afterAnswer?.();
    return pair;
  }
  return {
    volatile: known,
    async compare(request) {
      requests += 1;
      const volatile = known.seenBy(`client ${requests % CLIENTS}`);
      const [path = ""] = request.path.slice(3).split("?");
      const match = pack.match("GET", path.split("/").filter(Boolean));
      const route = match?.routes[0];
      if (!route) throw new Error(`no route for ${request.path}`);
      const rules = createAnswerRules(pack, route, {
        method: "GET",
        path: request.path,
        filter: request.filter ?? null,
      });
      clock.elapsed += BETWEEN;
      const first = await ask(request);
      const look = comparePair(first, rules, volatile);
      if (look.result === "differs") {
        clock.elapsed += AGAIN;
        return { ...confirm(first, await ask(request), rules, volatile), route: route.name };
      }
      if (volatile.needsPair(route.name, random())) {
        clock.elapsed += AGAIN;
        recordOldPair(first.old, await old(request), rules, volatile);
      }
      const differences = "differences" in look ? look.differences : [];
      return { result: look.result, differences, route: route.name };
    },
  };
}
