/** Opens what counts the comparisons of a gateway. */
import type { Redaction } from "../audit/redact.ts";
import type { Settings } from "../config/setting-definitions.ts";
import type { Pack } from "../mapping/pack.ts";
import { openComparisons, type Comparisons, type ComparisonsOptions } from "../parity/comparisons.ts";
import { createCoverage } from "../parity/coverage.ts";
import type { CoverAnswer } from "../parity/pending.ts";
import { createRedaction } from "./record-options.ts";

/** The comparisons of a gateway, which are redacted by its active pack. */
export interface ComparisonsService extends Comparisons {
  /** Later examples are redacted by this pack, and later answers are those of its routes. */
  usePack(pack: Pack): void;
}

interface PackParts {
  readonly redaction: Redaction;
  readonly cover: CoverAnswer;
}

/** Opens the comparisons. Nothing runs before the first result. */
export function openComparisonsService(
  settings: Pick<Settings, "AUDIT_BODY_LIMIT">,
  { pack, ...options }: Pick<ComparisonsOptions, "state" | "metrics" | "log"> & { readonly pack: Pack },
): ComparisonsService {
  let active = pack;
  let parts: PackParts | undefined;
  const partsOf = (): PackParts =>
    (parts ??= { redaction: createRedaction(active, settings), cover: createCoverage(active) });
  return {
    ...openComparisons({
      ...options,
      redaction: () => partsOf().redaction,
      cover: (route, body) => partsOf().cover(route, body),
    }),
    usePack(next) {
      active = next;
      parts = undefined;
    },
  };
}
