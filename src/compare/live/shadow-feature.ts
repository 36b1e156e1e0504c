/** The state that comparisons of the old service and the translation share, with any active pack. */
import type { LegacyService, LifecycleDependencies } from "../../gateway/index.ts";
import type { Feature, KeyValueStore } from "../../base/index.ts";
import type { Exchange, ReportComparison } from "../answers/comparison.ts";
import { VolatileFields } from "../answers/volatile-fields.ts";
import { createReportFull } from "../counts/comparisons.ts";
import { createVolatileStore } from "../answers/volatile-store.ts";
import type { ComparedSides } from "./compared-sides.ts";
import { OldService } from "./ask-old-service.ts";
import { Budget } from "../answers/budget.ts";
import type { ShadowOptions } from "./shadow-runner.ts";
import { WriteFence } from "./write-fence.ts";

/** The state that comparisons share, with any active pack. */
export interface OpenShadow {
  readonly sides: ComparedSides;
  readonly old: OldService;
  readonly budget: Budget;
  readonly fence: WriteFence;
  /** The knowledge about the old service. */
  readonly volatile: VolatileFields;
  readonly report: ShadowOptions["report"];
  /** Fires when the gateway stops. */
  readonly closing: AbortSignal;
  close(): Promise<unknown>;
}

interface ShadowNeeds {
  readonly sides: ComparedSides | undefined;
  readonly legacy: LegacyService | undefined;
  readonly state: KeyValueStore;
  readonly report: ReportComparison;
  /** The query parameter that contains the token, if the pack defines one. */
  readonly tokenParameter: string | undefined;
}

/** Milliseconds between two reads of other processes' knowledge about the old service. */
const EXCHANGE_MS = 60_000;

export const SHADOW: Feature<ShadowNeeds, OpenShadow | undefined> = {
  name: "shadow",
  setting: "ROLLOUT_FILE",
  open({ RATE_LIMIT }, { sides, legacy, state, report, tokenParameter }, { log, metrics, repeat }) {
    if (!sides || !legacy) return undefined;
    const budget = new Budget(() => {
      const { perSecond, memoryBytes: memory, clientShare } = sides.config().compare;
      const perClient = Math.max(1, Math.floor(RATE_LIMIT.points * clientShare));
      return { perSecond, perClient, clientSeconds: RATE_LIMIT.seconds, memory };
    });
    const fence = new WriteFence({
      lagMs() {
        const { data } = sides.config();
        return data.kind === "replicated" ? data.lagMs : 0;
      },
      onFull: createReportFull({ log, metrics }),
    });
    const volatile = new VolatileFields();
    const exchangeVolatile = createVolatileStore(state, volatile, legacy.url.href);
    // The roll-out reports a store that is down. Until it is back, this process only uses its own knowledge.
    const exchange = (): Promise<void> => exchangeVolatile().catch(() => {});
    void repeat(EXCHANGE_MS, exchange)();
    const old = new OldService(legacy, { sides, tokenParameter });
    const closing = new AbortController();
    return {
      sides,
      old,
      budget,
      fence,
      volatile,
      report(compared) {
        report(compared);
        sides.note(compared, compared.provenBy);
      },
      closing: closing.signal,
      close() {
        closing.abort();
        return Promise.all([exchange(), old.close()]);
      },
    };
  },
};

/** Wraps the recording of requests: after its record and its response are on their way, the comparison receives the request. */
export function compareAfter(
  record: LifecycleDependencies["record"],
  comparisons: readonly ((exchange: Exchange) => void)[],
): LifecycleDependencies["record"] {
  return (request, outcome, context) => {
    const recorded = record(request, outcome, context);
    // The response is sent in the turn in which this function, or the promise of the record, completes.
    const later = (): void => {
      for (const compare of comparisons) setImmediate(compare, { request, outcome, context });
    };
    if (recorded) recorded.then(later, () => {});
    else later();
    return recorded;
  };
}
