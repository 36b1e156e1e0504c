import type { Settings } from "../config/setting-definitions.ts";
import type { Redaction } from "../audit/redact.ts";
import type { Pack } from "../mapping/pack.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics/metrics.ts";
import { openComparisons, type Comparisons } from "../parity/comparisons.ts";
import type { KeyValueStore } from "../storage/key-value-store.ts";
import { createRedaction } from "./pack-redaction.ts";

/** The comparisons of a gateway, which are redacted by its active pack. */
export interface ComparisonsService extends Comparisons {
  /** Later examples are redacted by this pack. */
  usePack(pack: Pack): void;
}

/** Opens the comparisons. Nothing runs before the first result. */
export function openComparisonsService(
  settings: Pick<Settings, "AUDIT_BODY_LIMIT">,
  {
    pack,
    ...options
  }: { readonly pack: Pack; readonly state: KeyValueStore; readonly metrics: Metrics; readonly log: Log },
): ComparisonsService {
  let active = pack;
  let redaction: Redaction | undefined;
  const comparisons = openComparisons({
    ...options,
    redaction: () => (redaction ??= createRedaction(active, settings)),
  });
  return {
    ...comparisons,
    usePack(next) {
      active = next;
      redaction = undefined;
    },
  };
}
