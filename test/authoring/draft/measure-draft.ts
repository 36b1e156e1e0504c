/** Compares a draft with the pack that somebody has written for the same two APIs. */
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { type PackSummary, summarizePack } from "../../../src/pack/load/pack-summary.ts";

type FieldSummary = PackSummary["objects"][number]["fields"][number];

/** Parts of 1: of what the pack has, how much the draft has; of what the draft has, how much is right. */
export interface Quality {
  readonly recall: number;
  readonly precision: number;
  readonly wrong: readonly string[];
}

export interface DraftQuality {
  readonly routes: Quality;
  /** `recall` counts the fields that have the same value under the same or another name. */
  readonly fields: Quality;
}

const shapeOf = (route: string): string =>
  route.replaceAll(/\{[^}]*\}|(?<=\/):\w+/g, "{}").replace(/\?.*/, "");

/**
 * The upstream calls that are right for each route. Where the pack takes an object from a cached list, the call for this one
 * object is right, too.
 */
function callsByRoute(folder: string): Map<string, Set<string>> {
  const calls = new Map<string, Set<string>>();
  for (const { alpha, v4 } of summarizePack(loadPack(folder)).routes) {
    if (v4 === "none") continue;
    const route = shapeOf(alpha);
    const right = v4.split(", ").map(shapeOf);
    const ofItems = route.endsWith("/{}")
      ? right.map((call) => (call.endsWith("/{}") ? call : `${call}/{}`))
      : [];
    calls.set(route, new Set([...(calls.get(route) ?? []), ...right, ...ofItems]));
  }
  return calls;
}

function measureRoutes(truth: string, draft: string): Quality {
  const expected = callsByRoute(truth);
  const found = [...callsByRoute(draft)].map(([route, calls]) => ({ route, call: [...calls][0] ?? "" }));
  const wrong = found.filter(({ route, call }) => expected.get(route)?.has(call) !== true);
  const right = found.length - wrong.length;
  return {
    recall: right / expected.size,
    precision: right / found.length,
    wrong: wrong.map(({ route, call }) => `${route}: ${call}`),
  };
}

/** The lines of the draft for a field: for itself, or for members of it. */
const linesOf = (field: string, drafted: readonly FieldSummary[]): FieldSummary[] =>
  drafted.filter(({ name }) => name === field || name.startsWith(`${field}.`));

/** Whether a line reads the member that the field is read from, or for a member of the field that member of it. */
const isRight = ({ name, v4 }: FieldSummary, field: FieldSummary): boolean =>
  v4 === field.v4 || (field.v4 !== null && v4 === `${field.v4}${name.slice(field.name.length)}`);

function measureFields(truth: string, draft: string): Quality {
  const drafts = new Map(summarizePack(loadPack(draft)).objects.map(({ name, fields }) => [name, fields]));
  let [wanted, recalled, right] = [0, 0, 0];
  const wrong: string[] = [];
  for (const { name, fields } of summarizePack(loadPack(truth)).objects)
    for (const field of fields) {
      const lines = linesOf(field.name, drafts.get(name) ?? []);
      const isWanted = field.class === "same" || field.class === "renamed";
      const isFound = lines.length > 0 && lines.every((line) => isRight(line, field));
      if (isWanted) wanted += 1;
      if (isWanted && isFound) recalled += 1;
      if (isFound) right += 1;
      else if (lines.length > 0) wrong.push(`${name}.${field.name}: ${lines.map(({ v4 }) => v4).join(", ")}`);
    }
  return { recall: recalled / wanted, precision: right / (right + wrong.length), wrong };
}

/** Compares a draft with a pack. @param truth Folder of the pack. @param draft Folder of the draft. */
export const measureDraft = (truth: string, draft: string): DraftQuality => ({
  routes: measureRoutes(truth, draft),
  fields: measureFields(truth, draft),
});
