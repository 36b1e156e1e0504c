/** The client directory and the plan, as commands read them. */
import { packNames } from "../../../migration/sunset/open-sunset.ts";
import { openExistingState } from "../../../gateway/state/state-backends.ts";
import type { StateSettings } from "../../../gateway/state/shared-state.ts";
import { CLIENTS_FILE, NO_CLIENTS, type ClientDirectory } from "../../../audit/clients/client-directory.ts";
import type { Pack } from "../../../pack/pack.ts";
import { readOperatorFile } from "../../../base/files/operator-file.ts";
import { rolloutFile } from "../../../migration/rollout/rollout-file.ts";
import type { RolloutPlan } from "../../../migration/rollout/rollout-plan.ts";
import type { KeyValueStore } from "../../../base/storage/key-value-store.ts";
import { createControl, type SunsetControl } from "../../../migration/sunset/control.ts";
import { createPlan, type Plan } from "../../../migration/sunset/plan.ts";
import { sunsetFile } from "../../../migration/sunset/sunset-file.ts";

/** Reads the client directory. @throws {OperatorFileError} */
export const readDirectory = (file: string | undefined): ClientDirectory =>
  file === undefined ? NO_CLIENTS : readOperatorFile(file, CLIENTS_FILE);

interface PlanOptions {
  readonly pack: Pack;
  readonly directory: ClientDirectory;
  readonly hasAudit: boolean;
  /** What is known of the dates that were published; undefined: they may be shortened. */
  readonly control: Pick<SunsetControl, "published"> | undefined;
}

/** Reads a plan. @throws {OperatorFileError} */
export const readPlan = (file: string, { pack, directory, hasAudit, control }: PlanOptions): Plan =>
  createPlan(
    readOperatorFile(
      file,
      sunsetFile(() => ({ ...packNames(pack), directory, hasAudit, published: control?.published() })),
    ),
  );

/** Reads who gets the translation. @throws {OperatorFileError} */
export const readRollout = (
  file: string,
  { pack, directory }: Pick<PlanOptions, "pack" | "directory">,
): RolloutPlan =>
  readOperatorFile(
    file,
    rolloutFile(() => ({ routes: pack.routes.map(({ name }) => name), directory })),
  );

/** The state that a gateway keeps about its plan. Without a state store there is none. */
export interface OpenControl {
  readonly control: SunsetControl;
  /** Whether there is a state store. */
  readonly hasStore: boolean;
  close(): Promise<void>;
}

/** Stands for a store that does not exist yet. */
const EMPTY: Pick<KeyValueStore, "get" | "set" | "setIfAbsent" | "replace"> = {
  get: async () => undefined,
  set: async () => {},
  setIfAbsent: async () => false,
  replace: async () => false,
};

/** Reads the state of the plan from the store of a gateway. @throws {StateUnavailableError} */
export async function openControl(settings: StateSettings): Promise<OpenControl> {
  const store = await openExistingState(settings);
  const control = createControl(store ?? EMPTY);
  try {
    await control.refresh();
  } catch (error) {
    await store?.close();
    throw error;
  }
  return { control, hasStore: store !== undefined, close: async () => store?.close() };
}
