/** Opens what counts the comparisons of a gateway. */
import type { Redaction } from "../../audit/index.ts";
import type { Settings } from "../../base/index.ts";
import type { Pack } from "../../pack/index.ts";
import { openComparisons, type Comparisons, type ComparisonsOptions } from "../counts/comparisons.ts";
import { createCoverage } from "../counts/coverage.ts";
import type { CoverAnswer } from "../counts/pending.ts";
import { createRedaction } from "../../gateway/index.ts";

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
