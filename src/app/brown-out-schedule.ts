import { scheduleBrownOuts, type BrownOuts } from "../pipeline/brown-outs/brown-outs.ts";
import type { Pack } from "../mapping/pack.ts";
import { SettingsError } from "../config/settings.ts";
import type { Settings } from "../config/schema.ts";

/**
 * The brown-outs of the settings.
 *
 * @throws {SettingsError} where one is for a route that the pack does not have: it would never be noticed.
 */
export function plannedBrownOuts({ BROWN_OUTS = [] }: Pick<Settings, "BROWN_OUTS">, pack: Pack): BrownOuts {
  const unknown = BROWN_OUTS.flatMap(({ routes }) => routes).filter((name) => !pack.route(name));
  if (unknown.length > 0)
    throw new SettingsError(unknown.map((name) => `BROWN_OUTS: the pack has no route "${name}"`));
  return scheduleBrownOuts(BROWN_OUTS);
}
