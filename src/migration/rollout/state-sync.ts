/** Reads and writes at intervals what replicas share about a rollout. */
import { type Log, Outage } from "../../base/index.ts";
import type { Returns } from "./returns/returns.ts";
import type { RolloutPlan } from "./rollout-plan.ts";
import type { TokenClients } from "./token-clients.ts";

/** What reads and writes the shared state. */
export interface StateSync {
  /** Reads and writes. Never rejects. */
  tick(): Promise<void>;
  /** The file in force. While the store can't be read, it is the last one before that. */
  confirmedPlan(): RolloutPlan;
}

/** Of so many ticks one reads the clients with tokens of the gateway. */
const CLIENTS_EVERY = 5;

/** Creates it. Nothing is read yet. */
export function createStateSync({
  plan,
  returns,
  tokenClients,
  log,
}: {
  readonly plan: () => RolloutPlan;
  readonly returns: Pick<Returns, "tick">;
  readonly tokenClients: Pick<TokenClients, "exchange">;
  readonly log: Log;
}): StateSync {
  let ticks = 0;
  let lastPlan = plan();
  const outage = new Outage({
    begins: (error) =>
      log.error(
        { code: "AG_ROLLOUT_STATE_UNKNOWN", error },
        "the shared state of the rollout can't be read: what was read before counts",
      ),
    ends: () => log.info({}, "the shared state of the rollout can be read again"),
  });

  async function readAndWrite(): Promise<void> {
    if (ticks % CLIENTS_EVERY === 0) await tokenClients.exchange();
    await returns.tick();
  }

  return {
    confirmedPlan: () => (outage.isOn ? lastPlan : plan()),
    async tick() {
      try {
        await readAndWrite();
        outage.succeeded();
        lastPlan = plan();
      } catch (error) {
        outage.failed(error);
      }
      ticks += 1;
    },
  };
}
