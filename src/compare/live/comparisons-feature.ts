/** The results of comparisons with the candidate and the old service. */
import { z } from "zod";
import type { Redaction } from "../../audit/index.ts";
import type { Feature, FeatureParts, KeyValueStore } from "../../base/index.ts";
import { createRedaction } from "../../gateway/index.ts";
import type { Pack } from "../../pack/index.ts";
import { COMPARISONS_COMMANDS } from "./comparisons-commands.ts";
import { outlineComparisons } from "../recorded/outline-comparisons.ts";
import { openComparisons, type Comparisons } from "../counts/comparisons.ts";
import { type CoverAnswer, createCoverage } from "../counts/coverage.ts";
import { readExample } from "../counts/stored-counts.ts";
import {
  DEFAULT_RATE,
  MIN_RATE,
  type RouteSummary,
  type SourceSummary,
  summarizeComparisons,
} from "../counts/summary.ts";
import { describeExample } from "../recorded/describe-example.ts";

const QUERY = z.strictObject({
  source: z.enum(["candidate", "legacy"]).optional(),
  route: z.string().max(500).optional(),
  rate: z.coerce.number().min(MIN_RATE).max(0.5).default(DEFAULT_RATE),
});

/** Comparisons, open. They are redacted by the active pack, whose routes are summarized. */
export interface ComparisonsParts extends FeatureParts<Pack>, Pick<Comparisons, "report"> {
  /** By source and route, with the fields that differ most. @throws {StateUnavailableError} */
  status(query: z.output<typeof QUERY>): Promise<readonly SourceSummary[]>;
}

/** Fields and names of one route, or of one list of routes. */
const MAX_NAMES = 50;

const boundRoute = ({ fields, gaps, ...route }: RouteSummary): RouteSummary => ({
  ...route,
  fields: fields.slice(0, MAX_NAMES),
  gaps: gaps && { fields: gaps.fields.slice(0, MAX_NAMES), words: gaps.words.slice(0, MAX_NAMES) },
});

interface PackParts {
  readonly redaction: Redaction;
  readonly cover: CoverAnswer;
}

export const COMPARISONS: Feature<{ readonly pack: Pack; readonly state: KeyValueStore }, ComparisonsParts> =
  {
    name: "parity",
    member: "sources",
    page: { address: "parity", title: "Parity" },
    setting: "CANDIDATE_MAPPINGS_DIR",
    commands: COMPARISONS_COMMANDS,
    open(settings, needs, { metrics, log }) {
      const { state } = needs;
      let changed: Pack | undefined;
      const pack = (): Pack => changed ?? needs.pack;
      let parts: PackParts | undefined;
      const partsOf = (): PackParts =>
        (parts ??= { redaction: createRedaction(pack(), settings), cover: createCoverage(pack()) });
      // Nothing runs before the first result.
      const { report, close } = openComparisons({
        state,
        metrics,
        log,
        redaction: () => partsOf().redaction,
        cover: (route, body) => partsOf().cover(route, body),
      });
      return {
        report,
        close,
        isShown: settings.CANDIDATE_MAPPINGS_DIR !== undefined || settings.ROLLOUT_FILE !== undefined,
        parameters: QUERY,
        async status(query) {
          const sources = await summarizeComparisons(state, { ...query, pack: pack() });
          return sources.map((source) => ({ ...source, routes: source.routes.map(boundRoute) }));
        },
        async describe() {
          const sources = await summarizeComparisons(state, { ...QUERY.parse({}), pack: pack() });
          return outlineComparisons(sources, { maxRoutes: Infinity, whereAll: "" });
        },
        items: {
          name: "example",
          async read(id) {
            const example = await readExample(state, id);
            return example && describeExample(example, pack());
          },
        },
        usePack(next) {
          changed = next;
          parts = undefined;
        },
      };
    },
  };
