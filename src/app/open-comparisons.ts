/** Opens what counts the comparisons of a gateway. */
import type { Redaction } from "../audit/redact.ts";
import type { Settings } from "../config/setting-definitions.ts";
import type { Pack } from "../mapping/pack.ts";
import { openComparisons, type Comparisons, type ComparisonsOptions } from "../parity/comparisons.ts";
import { createCoverage } from "../parity/coverage.ts";
import type { CoverAnswer } from "../parity/pending.ts";
import { createPackRedaction } from "./pack-redaction.ts";

/** The comparisons of a gateway. */
export interface ComparisonsService extends Comparisons {
  /** Later examples are redacted by this pack, and later answers are those of its routes. */
  usePack(pack: Pack): void;
}

interface PackParts {
  readonly redaction: Redaction;
  readonly cover: CoverAnswer;
}

/** Opens the comparisons. Without a result they do nothing. */
export function openPackComparisons(
  settings: Pick<Settings, "AUDIT_BODY_LIMIT">,
  pack: Pack,
  options: Pick<ComparisonsOptions, "state" | "metrics" | "log">,
): ComparisonsService {
  let current = pack;
  let parts: PackParts | undefined;
  const partsOf = (): PackParts =>
    (parts ??= { redaction: createPackRedaction(current, settings), cover: createCoverage(current) });
  return {
    ...openComparisons({
      ...options,
      redaction: () => partsOf().redaction,
      cover: (route, body) => partsOf().cover(route, body),
    }),
    usePack(next) {
      current = next;
      parts = undefined;
    },
  };
}
