/**
 * The operator features that have commands or files. Each is loaded on demand, because loading its room takes most of
 * the start time.
 */
import type { CommandFeature } from "./feature-needs.ts";

/** A first-level command, as listed in the help. */
export interface ListedCommand {
  readonly name: string;
  readonly description: string;
  /** Whether the command is a group, which has no flags of its own. */
  readonly isGroup?: true;
  /**
   * The description of the summary that `check` prints for its file, whose flag has the same name. Undefined if it has
   * no file.
   */
  readonly file?: string;
  /** Loads the feature. If the feature and the command have the same name, the feature's other commands become subcommands. */
  load(): Promise<CommandFeature>;
}

const loadPromotion = async (): Promise<CommandFeature> =>
  (await import("../../compare/index.ts")).PACK_CHOICE;

/** The commands in the order of the help. */
export const FEATURE_COMMANDS: readonly ListedCommand[] = [
  {
    name: "promote",
    description: "Make the candidate the active pack of all gateways that share the state store.",
    load: loadPromotion,
  },
  {
    name: "rollback",
    description: "Undo promote: the pack in MAPPINGS_DIR becomes active again.",
    load: loadPromotion,
  },
  {
    name: "clients",
    description: "List the clients that CLIENTS_FILE does not name, with the most requests first.",
    file: "check a client directory (CLIENTS_FILE) in place of the pack",
    load: async () => (await import("../../audit/index.ts")).CLIENTS,
  },
  {
    name: "rollout",
    description:
      "Show the clients that get the translation, the reasons, and the returns to the old service.",
    file: "check a rollout file (ROLLOUT_FILE)",
    load: async () => (await import("../../migration/index.ts")).ROLLOUT,
  },
  {
    name: "sunset",
    description: "Show, simulate and announce the plan for the end of the old API.",
    isGroup: true,
    file: "check a sunset plan (SUNSET_FILE)",
    load: async () => (await import("../../migration/index.ts")).PLAN,
  },
  {
    name: "parity",
    description:
      "Print the results of comparisons by route: whether they are enough, and which fields differ.",
    async load() {
      const { COMPARISONS } = await import("../../compare/index.ts");
      const { PARITY_EXAMPLE } = await import("./compare/parity-example-command.ts");
      const { commands } = COMPARISONS;
      return {
        ...COMPARISONS,
        ...(commands && { commands: { ...commands, all: [...commands.all, PARITY_EXAMPLE] } }),
      };
    },
  },
  {
    name: "notices",
    description: "Try the receivers of notices.",
    isGroup: true,
    file: "check the receivers of notices (NOTICES_FILE)",
    load: async () => (await import("../../migration/index.ts")).NOTICES,
  },
];

/** The features with files, in the order in which the files are checked. */
export const FILE_FEATURES = FEATURE_COMMANDS.filter(({ file }) => file !== undefined);

export const loadFileFeatures = (): Promise<readonly CommandFeature[]> =>
  Promise.all(FILE_FEATURES.map(({ load }) => load()));
