import type { Fullness, KeyValueStore, Log, Metrics } from "../../base/index.ts";

/** The used part above which the operator is informed. */
const NEARLY_FULL = 0.8;
const CHECK_MS = 10_000;

/** The content of each part of the store, in words for the operator. */
const PARTS: Readonly<Record<keyof Fullness, string>> = {
  application: "tokens of sign-ins",
  personal: "personal tokens",
  rest: "requested scopes, or memory of Redis",
};

/**
 * Watches how full the state store is: with a gauge, and a line in the log if a part is nearly full. No entry is
 * removed to make room, so only new tokens and requests fail.
 */
export function watchFullness(
  state: Pick<KeyValueStore, "fullness">,
  { log, metrics }: { readonly log: Log; readonly metrics: Pick<Metrics, "addGauge"> },
) {
  let fullness: Fullness = { application: 0, personal: 0, rest: 0 };
  const reported = new Set<string>();

  async function check(): Promise<void> {
    // The readiness check of the store reports a store that does not respond.
    fullness = await state.fullness().catch(() => fullness);
    for (const [part, used] of Object.entries(fullness) as [keyof Fullness, number][]) {
      if (used < NEARLY_FULL) reported.delete(part);
      else if (!reported.has(part)) {
        reported.add(part);
        const percent = Math.floor(used * 100);
        log.warn(
          { code: "AG_STATE_STORE_FILLS", part: PARTS[part], percent },
          "the state store is nearly full",
        );
      }
    }
  }

  const used = (): number => Math.max(...Object.values(fullness));
  metrics.addGauge(
    "state_store_used_ratio",
    "Use of the fullest part of the state store, from 0 to 1.",
    used,
  );
  void check();
  const timer = setInterval(() => void check(), CHECK_MS).unref();
  return {
    /** Returns why sign-ins fail; empty if they don't. */
    async problems(): Promise<readonly string[]> {
      await check();
      return fullness.application >= 1 ? ["the state store is full: sign-ins fail"] : [];
    },
    close: () => clearInterval(timer),
  };
}
