/** Reads and writes at intervals what replicas share about a rollout. */
import type { Log } from "../observability/log.ts";
import { Outage } from "../observability/outage.ts";
import type { NoWayBack } from "./no-way-back.ts";
import type { Returns } from "./returns.ts";
import type { RolloutPlan } from "./rollout-plan.ts";

/** What reads and writes the shared state. */
export interface StateSync {
  /** Reads and writes. Never rejects. */
  tick(): Promise<void>;
  /** The file in force. While the store can't be read, it is the last one before that. */
  confirmedPlan(): RolloutPlan;
}

/** Of so many ticks one reads the clients that can't simply return. */
const CLIENTS_EVERY = 5;

/** Creates it. Nothing is read yet. */
export function createStateSync({
  plan,
  returns,
  noWayBack,
  log,
}: {
  readonly plan: () => RolloutPlan;
  readonly returns: Pick<Returns, "tick">;
  readonly noWayBack: Pick<NoWayBack, "refresh" | "flush">;
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
    // First: a trip must not turn back a client that has written.
    if (plan().data.kind === "separate" || ticks % CLIENTS_EVERY === 0) {
      await noWayBack.refresh();
      await noWayBack.flush();
    }
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
