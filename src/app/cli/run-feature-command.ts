/** Opens an operator feature as a gateway does, runs one of its commands, and closes everything. */
import { userInfo } from "node:os";
import { openExistingAuditStore } from "../../audit/index.ts";
import {
  CommandError,
  commandProcess,
  type CommandInput,
  type CommandResult,
  type FeatureCommand,
  type FeatureCommands,
  openFeature,
  STATE_SETTINGS,
  withClosing,
} from "../../base/index.ts";
import { openExistingState } from "../../gateway/index.ts";
import { loadPack, packFolder } from "../../pack/index.ts";
import { flagOf } from "./command-settings.ts";
import { type CommandFeature, type CommandNeeds, readNeeds } from "./feature-needs.ts";
import { showProgress } from "./progress.ts";

/**
 * Opens the feature, runs its command, and closes everything. @throws an error with a `code` if an operator can correct
 * it
 */
export async function runFeatureCommand(
  feature: CommandFeature,
  { settings: flags, absence }: FeatureCommands<CommandNeeds, object>,
  command: FeatureCommand<CommandNeeds, object>,
  { settings, given }: Pick<CommandInput<CommandNeeds, object>, "settings" | "given">,
): Promise<CommandResult> {
  const { audit: reads, runsWhileOff = false, withoutStore } = command;
  return withClosing(async (keep) => {
    const usesState = STATE_SETTINGS.every((name) => flags.includes(name));
    const existing = usesState ? await openExistingState(settings) : undefined;
    const store = keep(existing, (each) => each?.close());
    const opening = reads && openExistingAuditStore(settings);
    const found = await (reads === "needed" ? opening : opening?.catch(() => undefined));
    const audit = keep(found, (each) => each?.close());
    const readPack = () => loadPack(packFolder(settings.MAPPINGS_DIR), settings.WORDS);
    const needs = await readNeeds(settings, readPack, { store, audit });
    const opened = keep(await openFeature(feature, settings, needs, commandProcess()), (each) =>
      each.close(),
    );
    const parts = opened.parts ?? (runsWhileOff ? {} : undefined);
    if (!parts)
      throw new CommandError(`${absence}: set ${feature.setting}, or give ${flagOf(feature.setting)}`);
    if (!store && withoutStore !== undefined)
      throw new CommandError(`there is no state store yet: ${withoutStore}`);
    const onProgress = keep(showProgress("records"), (progress) => progress.end());
    return command.run({ parts, needs, settings, given, by: userInfo().username, onProgress });
  });
}
