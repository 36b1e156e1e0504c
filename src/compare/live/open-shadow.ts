/** Opens what comparisons of the old service and the translation share, whichever pack is active. */
import type { LegacyService } from "../../gateway/index.ts";
import type { KeyValueStore, Log, Metrics, Settings } from "../../base/index.ts";
import type { ReportComparison } from "../counts/comparison.ts";
import { VolatileFields } from "../answers/volatile-fields.ts";
import { createReportFull } from "../counts/full-stores.ts";
import { createVolatileStore } from "../answers/volatile-store.ts";
import type { ComparedRollout } from "./compared-rollout.ts";
import { OldService } from "./ask-old-service.ts";
import { Budget } from "./budget.ts";
import type { ShadowOptions } from "./shadow-runner.ts";
import { WriteFence } from "./write-fence.ts";

/** What comparisons share, whichever pack is active. */
export interface ShadowService {
  readonly rollout: ComparedRollout;
  readonly old: OldService;
  readonly budget: Budget;
  readonly fence: WriteFence;
  /** What is known of the old service. */
  readonly volatile: VolatileFields;
  readonly report: ShadowOptions["report"];
  /** Fires when the gateway stops. */
  readonly closing: AbortSignal;
  close(): Promise<void>;
}

/** Pause between two looks at what other processes know of the old service. */
const EXCHANGE_MS = 60_000;

/** Opens what comparisons need; undefined without a rollout. */
export function openShadow(
  { RATE_LIMIT }: Pick<Settings, "RATE_LIMIT">,
  {
    rollout,
    legacy,
    state,
    report,
    tokenParameter,
    log,
    metrics,
  }: {
    readonly rollout: ComparedRollout | undefined;
    readonly legacy: LegacyService | undefined;
    readonly state: KeyValueStore;
    readonly report: ReportComparison;
    /** The query parameter with the token, where the pack has it there. */
    readonly tokenParameter: string | undefined;
    readonly log: Log;
    readonly metrics: Pick<Metrics, "countNoRoom">;
  },
): ShadowService | undefined {
  if (!rollout || !legacy) return undefined;
  const budget = new Budget(() => {
    const { perSecond, memoryBytes: memory, clientShare } = rollout.plan().compare;
    const perClient = Math.max(1, Math.floor(RATE_LIMIT.points * clientShare));
    return { perSecond, perClient, clientSeconds: RATE_LIMIT.seconds, memory };
  });
  const fence = new WriteFence({
    lagMs() {
      const { data } = rollout.plan();
      return data.kind === "replicated" ? data.lagMs : 0;
    },
    onFull: createReportFull({ log, metrics }),
  });
  const volatile = new VolatileFields();
  const exchangeVolatile = createVolatileStore(state, volatile, legacy.url.href);
  // The rollout says that the store is down. Until then this process learns by itself.
  const exchange = (): Promise<void> => exchangeVolatile().catch(() => {});
  const exchangeTimer = setInterval(() => void exchange(), EXCHANGE_MS).unref();
  void exchange();
  const old = new OldService(legacy, tokenParameter);
  const closing = new AbortController();
  return {
    rollout,
    old,
    budget,
    fence,
    volatile,
    report(compared, knownAs) {
      report(compared);
      rollout.note(compared, knownAs);
    },
    closing: closing.signal,
    async close() {
      closing.abort();
      clearInterval(exchangeTimer);
      await Promise.all([exchange(), old.close()]);
    },
  };
}
