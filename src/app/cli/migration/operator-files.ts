/** The client directory and the plan, as commands read them. */
import {
  createControl,
  createPlan,
  packNames,
  type Plan,
  rolloutFile,
  type RolloutPlan,
  type SunsetControl,
  sunsetFile,
} from "../../../migration/index.ts";
import { openExistingState, type StateSettings } from "../../../gateway/index.ts";
import { type ClientDirectory, CLIENTS_FILE, NO_CLIENTS } from "../../../audit/index.ts";
import type { Pack } from "../../../pack/index.ts";
import { type KeyValueStore, readOperatorFile } from "../../../base/index.ts";

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
