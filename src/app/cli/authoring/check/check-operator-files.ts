import { CLIENTS } from "../../../../audit/index.ts";
import { commandProcess, lines, openFeature, type Settings } from "../../../../base/index.ts";
import { openExistingState } from "../../../../gateway/index.ts";
import { loadPack, packFolder } from "../../../../pack/index.ts";
import { reportInvalid } from "../report-problems.ts";
import { loadFileFeatures } from "../../features.ts";
import { readNeeds } from "../../feature-needs.ts";
import { printBlocks } from "../../terminal.ts";

/** Files by the names of their features, which are also their flags. */
type OperatorFiles = Readonly<Record<string, string>>;

/**
 * Runs `alpha-gateway check` for files of the operator: opens each file as a gateway does, and prints a summary. It also
 * reads the pack, for the names in the files, and the published dates.
 *
 * @param isAnnounced whether the plan may shorten published dates
 * @returns the exit code: 1 if there is a problem
 */
export const checkOperatorFiles = (
  directory: string | undefined,
  files: OperatorFiles,
  isAnnounced: boolean,
  settings: Settings,
): Promise<number> =>
  reportInvalid(async () => {
    const folder = packFolder(directory ?? settings.MAPPINGS_DIR);
    const features = await loadFileFeatures();
    const ofFiles = features.flatMap(({ name, setting }) => (files[name] ? [[setting, files[name]]] : []));
    const given: Settings = { ...settings, ...Object.fromEntries(ofFiles) };
    const checked = features.filter(({ name }) => files[name] !== undefined);
    const needsState = checked.some(({ checksWith }) => checksWith?.state);
    const namesClients = checked.some(({ checksWith }) => checksWith?.clients);
    const store = needsState ? await openExistingState(settings) : undefined;
    try {
      const readPack = () => loadPack(folder, settings.WORDS);
      const needs = await readNeeds(given, readPack, { store, isAnnounced, readsSecrets: false });
      for (const feature of features) {
        if (!checked.includes(feature) && !(feature === CLIENTS && namesClients)) continue;
        const { parts, close } = await openFeature(feature, given, needs, commandProcess());
        printBlocks(lines(parts?.summary?.() ?? ""));
        await close();
      }
    } finally {
      await store?.close();
    }
    return 0;
  });
