/** `alpha-gateway parity`: what comparisons of answers have found. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { loadPack, packFolder } from "../../../pack/index.ts";
import { openExistingState, type StateSettings } from "../../../gateway/index.ts";
import type { KeyValueStore, Settings } from "../../../base/index.ts";
import {
  type ComparisonSource,
  DEFAULT_RATE,
  describeExample,
  type Example,
  findRules,
  loadWithPlaces,
  MIN_RATE,
  readExample,
  resetComparisons,
  SOURCES,
  type SourceSummary,
  summarizeComparisons,
  type Verdict,
} from "../../../compare/index.ts";
import { EXAMPLES_FOLDER, toGoldenCase } from "../../../authoring/index.ts";
import { formatComparisons, formatExample } from "./format-parity.ts";
import { print, printData, printError } from "../terminal.ts";

export interface ParityFlags {
  readonly source?: ComparisonSource;
  readonly route?: string;
  readonly format: "text" | "json";
  /** `0.1%`. */
  readonly failAbove?: string;
}

export type ParitySettings = Pick<Settings, "MAPPINGS_DIR" | "CANDIDATE_MAPPINGS_DIR" | "WORDS"> &
  StateSettings;

/** What `--fail-above` ends with. */
const EXIT_CODES: Readonly<Record<Verdict, number>> = { below: 0, above: 1, "not enough": 2 };

/** Errors that an operator can correct. Others are bugs. */
const isOperatorError = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("AG_");

/** @returns a rate: 0.001 for `0.1%` */
function readRate(text: string | undefined, command: Command): number {
  if (text === undefined) return DEFAULT_RATE;
  const rate = /^\d+(?:\.\d+)?%$/.test(text) ? Number(text.slice(0, -1)) / 100 : NaN;
  if (rate >= MIN_RATE && rate <= 0.5) return rate;
  return command.error("error: --fail-above is a percentage from 0.03% to 50%, such as 0.1%");
}

/** Opens the state store of a gateway for `use`; without one it is undefined. */
async function withState<T>(
  settings: StateSettings,
  use: (state: KeyValueStore | undefined) => Promise<T>,
): Promise<T> {
  const state = await openExistingState(settings);
  try {
    return await use(state);
  } finally {
    await state?.close();
  }
}

/** The verdict of all sources that were asked for. */
function verdictOf(summaries: readonly SourceSummary[]): Verdict {
  const verdicts = summaries.map(({ verdict }) => verdict);
  if (verdicts.includes("above")) return "above";
  return verdicts.length > 0 && verdicts.every((verdict) => verdict === "below") ? "below" : "not enough";
}

/**
 * Runs `alpha-gateway parity`.
 *
 * @returns the exit code: 0, or with `--fail-above` 1 if more answers differ, and 2 if that can't be said
 */
export async function parity(
  flags: ParityFlags,
  settings: ParitySettings,
  command: Command,
): Promise<number> {
  const { source, route, format, failAbove } = flags;
  const rate = readRate(failAbove, command);
  try {
    const pack = loadPack(packFolder(settings.MAPPINGS_DIR), settings.WORDS);
    const summaries = await withState(settings, async (state) =>
      state ? summarizeComparisons(state, { rate, pack, route, source }) : [],
    );
    if (format === "json") printData(`${JSON.stringify({ sources: summaries }, null, 2)}\n`);
    else print(formatComparisons(summaries));
    return failAbove === undefined ? 0 : EXIT_CODES[verdictOf(summaries)];
  } catch (error) {
    if (failAbove === undefined || !isOperatorError(error)) throw error;
    printError(`${error.code}: ${error.message}\n`);
    return EXIT_CODES["not enough"];
  }
}

/** Reads an example. It ends the command if there is none of this id. */
async function findExample(id: string, settings: StateSettings, command: Command): Promise<Example> {
  const example = await withState(settings, async (state) => state && readExample(state, id));
  return example ?? command.error(`error: there is no example ${id}: "parity" lists their ids`);
}

/** Runs `alpha-gateway parity show`. @returns the exit code */
export async function parityShow(
  id: string,
  { format }: Pick<ParityFlags, "format">,
  settings: ParitySettings,
  command: Command,
): Promise<number> {
  const example = await findExample(id, settings, command);
  const { MAPPINGS_DIR, CANDIDATE_MAPPINGS_DIR, WORDS } = settings;
  const active = loadWithPlaces(packFolder(MAPPINGS_DIR), WORDS);
  const described = describeExample(example, active.pack, active.locate);
  const candidate =
    example.source === "candidate" && CANDIDATE_MAPPINGS_DIR !== undefined
      ? loadWithPlaces(CANDIDATE_MAPPINGS_DIR, WORDS)
      : undefined;
  const candidateRules = candidate ? findRules(example, candidate.pack, candidate.locate) : [];
  if (format === "json") printData(`${JSON.stringify({ ...described, candidateRules }, null, 2)}\n`);
  else print(formatExample(described, candidateRules));
  return 0;
}

export interface ParityExampleFlags {
  /** Folder of the pack that gets the case. Default: that of `MAPPINGS_DIR`. */
  readonly pack?: string;
}

/** Runs `alpha-gateway parity example`: writes a golden case into a pack. @returns the exit code */
export async function parityExample(
  id: string,
  { pack: folder }: ParityExampleFlags,
  settings: ParitySettings,
  command: Command,
): Promise<number> {
  const example = await findExample(id, settings, command);
  const directory = folder ?? packFolder(settings.MAPPINGS_DIR);
  // Golden cases have the words of the pack.
  const pack = loadPack(directory);
  const made = toGoldenCase(example, pack);
  if ("problem" in made) return command.error(`error: there can be no golden case: ${made.problem}`);
  const object = pack.route(example.route)?.object;
  if (object === undefined) return command.error(`error: the pack has no route "${example.route}"`);
  const file = join(directory, EXAMPLES_FOLDER, object, `difference-${id.replaceAll(/[^\w-]/g, "")}.yaml`);
  if (existsSync(file)) return command.error(`error: ${file} is there already`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, made.yaml, { flag: "wx" });
  print(`wrote ${file}\nIt expects the answer that clients got. Run "alpha-gateway check ${directory}".\n`);
  return 0;
}

/** Runs `alpha-gateway parity reset`: all comparisons, or those of a source, begin again. @returns the exit code */
export async function parityReset(
  { source }: Pick<ParityFlags, "source">,
  settings: ParitySettings,
): Promise<number> {
  const deleted = await withState(settings, async (state) =>
    state ? resetComparisons(state, source === undefined ? SOURCES : [source]) : [],
  );
  print(
    deleted.length > 0 ? `Comparisons begin again: ${deleted.join(", ")}.\n` : "Nothing was counted yet.\n",
  );
  return 0;
}
