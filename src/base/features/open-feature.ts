import type { Settings } from "../settings/setting-definitions.ts";
import { closeAll, type Closer } from "./close-all.ts";
import { createHost, type FeatureProcess } from "./feature-host.ts";
import type { Feature, FeatureIdentity } from "./feature.ts";

/** An open feature. */
export interface OpenFeature<Parts> {
  readonly feature: FeatureIdentity;
  readonly parts: Parts;
  close(): Promise<void>;
}

/**
 * Opens a feature for a process. After a failure it closes everything that was opened.
 *
 * @throws {OperatorFileError} If its file is invalid.
 */
export async function openFeature<Needs, Parts extends { close?(): unknown } | undefined>(
  feature: Feature<Needs, Parts>,
  settings: Settings,
  needs: Needs,
  process: FeatureProcess,
): Promise<OpenFeature<Parts>> {
  const closers: Closer[] = [];
  try {
    const parts = await feature.open(settings, needs, createHost(process, closers));
    closers.push(() => parts?.close?.());
    return { feature, parts, close: () => closeAll(closers) };
  } catch (error) {
    await closeAll(closers);
    throw error;
  }
}
