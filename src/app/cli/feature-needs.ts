/** The services that operator features need from a command. */
import { type AuditStore, type ClientDirectory, CLIENTS, type ClientsParts } from "../../audit/index.ts";
import {
  commandProcess,
  type DocumentStore,
  type Feature,
  type FeatureParts,
  type KeyValueStore,
  NO_STORE,
  openFeature,
  type Settings,
} from "../../base/index.ts";
import type { Pack } from "../../pack/index.ts";

/** The services of a command for the features that it opens. */
export type CommandNeeds = Awaited<ReturnType<typeof readNeeds>>;

/** A feature, regardless of the types of its parts. */
export type CommandFeature = Feature<CommandNeeds, FeatureParts | undefined>;

/** The stores that a command opens for its features. */
interface CommandStores {
  /** The state store. Undefined if no gateway has created one yet. */
  readonly store: KeyValueStore | undefined;
  readonly audit?: AuditStore | undefined;
  readonly isAnnounced?: boolean | undefined;
  readonly readsSecrets?: boolean;
}

/** Opens the client directory. @throws {OperatorFileError} */
async function openClients(settings: Settings): Promise<ClientsParts> {
  const { parts } = await openFeature(CLIENTS, settings, undefined, commandProcess());
  return parts;
}

/** Reads the client directory, which is empty if there is no file. @throws {OperatorFileError} */
export const readDirectory = async (settings: Settings): Promise<ClientDirectory> =>
  (await openClients(settings)).current();

/**
 * Reads the dependencies of features. The pack is only read if a feature needs it. @throws {OperatorFileError} if the
 * client directory is invalid
 */
export async function readNeeds(
  settings: Settings,
  readPack: () => Pack,
  { store, audit, isAnnounced = true, readsSecrets = true }: CommandStores,
) {
  const clients = await openClients(settings);
  const state = store ?? NO_STORE;
  let pack: Pack | undefined;
  return {
    get pack(): Pack {
      return (pack ??= readPack());
    },
    clients,
    directory: clients.current,
    state,
    openStore: (): Promise<DocumentStore> => Promise.resolve(state),
    audit,
    legacy: undefined,
    /** Whether dates of the plan may be earlier than the published ones. */
    isAnnounced,
    readsSecrets,
    planStatus: () => undefined,
  };
}
