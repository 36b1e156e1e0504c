/** The results of comparisons with the candidate and the old service. */
import { z } from "zod";
import {
  CommandError,
  type CommandFlag,
  type Feature,
  type FeatureCommands,
  type FeatureParts,
  type KeyValueStore,
  lines,
  STATE_SETTINGS,
} from "../../base/index.ts";
import { createRedaction } from "../../gateway/index.ts";
import { type Pack, packFolder } from "../../pack/index.ts";
import { outlineComparisons, outlineExample } from "../recorded/outline-comparisons.ts";
import { type Comparisons, openComparisons } from "../counts/comparisons.ts";
import { createCoverage } from "../counts/coverage.ts";
import { readExample, resetComparisons, SOURCES } from "../counts/counts.ts";
import {
  DEFAULT_RATE,
  MIN_RATE,
  type RateVerdict,
  type RouteSummary,
  type SourceSummary,
  summarizeComparisons,
  verdictOf,
} from "../counts/summary.ts";
import { describeExample, findRules, loadWithPlaces } from "../recorded/describe-example.ts";

const QUERY = z.strictObject({
  source: z.enum(["candidate", "legacy"]).optional(),
  route: z.string().max(500).optional(),
  rate: z.coerce.number().min(MIN_RATE).max(0.5).default(DEFAULT_RATE),
});

/** Comparisons, after they were opened. They use the redaction and the routes of the active pack. */
interface ComparisonsParts extends FeatureParts<Pack>, Pick<Comparisons, "report"> {
  /** Returns the results by source and route, with the fields that differ most. @throws {StateUnavailableError} */
  status(query: z.output<typeof QUERY>): Promise<readonly SourceSummary[]>;
}

/** Maximum number of fields and names of one route, or in one list of routes. */
const MAX_NAMES = 50;

const boundRoute = ({ fields, gaps, ...route }: RouteSummary): RouteSummary => ({
  ...route,
  fields: fields.slice(0, MAX_NAMES),
  gaps: gaps && { fields: gaps.fields.slice(0, MAX_NAMES), words: gaps.words.slice(0, MAX_NAMES) },
});

interface CommandNeeds {
  readonly pack: Pack;
  readonly state: KeyValueStore;
}

/** The exit codes of `--fail-above`. */
const EXIT_CODES: Readonly<Record<RateVerdict, number>> = { below: 0, above: 1, "not enough": 2 };

/** Parses a rate. @returns a rate: 0.001 for `0.1%` */
function readRate(text: string | undefined): number {
  if (text === undefined) return DEFAULT_RATE;
  const rate = /^\d+(?:\.\d+)?%$/.test(text) ? Number(text.slice(0, -1)) / 100 : NaN;
  if (rate >= MIN_RATE && rate <= 0.5) return rate;
  throw new CommandError("--fail-above is a percentage from 0.03% to 50%, such as 0.1%");
}

const SOURCE: CommandFlag = {
  syntax: "--source <source>",
  description: "only this source",
  choices: SOURCES,
};

const sourceOf = (text: string | undefined) => SOURCES.find((source) => source === text);

const COMPARISONS_COMMANDS: FeatureCommands<CommandNeeds, object> = {
  settings: ["MAPPINGS_DIR", "WORDS", "CANDIDATE_MAPPINGS_DIR", ...STATE_SETTINGS],
  absence: "there are no comparisons",
  usageCode: EXIT_CODES["not enough"],
  all: [
    {
      syntax: "",
      note: "With --fail-above it exits with 0 if fewer answers differ on each compared route, with 1 if more do, and with 2 if that can't be said.",
      flags: [
        SOURCE,
        { syntax: "--route <route>", description: "only this route, for example 'GET /vm/instances/:id'" },
        {
          syntax: "--fail-above <percentage>",
          description: "the rate of differing responses to test, with an exit code (default: 0.1%, without)",
        },
      ],
      format: "json",
      errorCode: ({ failAbove }) => (failAbove === undefined ? undefined : EXIT_CODES["not enough"]),
      async run({ needs: { state, pack }, given: { source, route, failAbove } }) {
        const query = { rate: readRate(failAbove), pack, route, source: sourceOf(source) };
        const sources = await summarizeComparisons(state, query);
        return {
          blocks: outlineComparisons(sources),
          data: { sources },
          exitCode: failAbove === undefined ? 0 : EXIT_CODES[verdictOf(sources)],
        };
      },
    },
    {
      syntax: "show <id>",
      description:
        "Print an example: both bodies, the rules of the fields that differ, and commands that repeat it.",
      argument: "its id, as parity prints it",
      format: "json",
      async run({ needs: { state }, settings, given: { id = "" } }) {
        const { MAPPINGS_DIR, CANDIDATE_MAPPINGS_DIR, WORDS } = settings;
        const example = await readExample(state, id);
        if (!example) throw new CommandError(`there is no example ${id}: "parity" lists their ids`);
        const active = loadWithPlaces(packFolder(MAPPINGS_DIR), WORDS);
        const described = describeExample(example, active.pack, active.locate);
        const candidate =
          example.source === "candidate" && CANDIDATE_MAPPINGS_DIR !== undefined
            ? loadWithPlaces(CANDIDATE_MAPPINGS_DIR, WORDS)
            : undefined;
        const candidateRules = candidate ? findRules(example, candidate.pack, candidate.locate) : [];
        return { blocks: outlineExample(described, candidateRules), data: { ...described, candidateRules } };
      },
    },
    {
      syntax: "reset",
      description: "Forget the results of comparisons, or those of one source.",
      flags: [SOURCE],
      async run({ needs: { state }, given }) {
        const source = sourceOf(given["source"]);
        const deleted = await resetComparisons(state, source === undefined ? SOURCES : [source]);
        return {
          blocks: lines(
            deleted.length > 0
              ? `Forgot the comparisons of ${deleted.join(", ")}.`
              : "Nothing was counted yet.",
          ),
        };
      },
    },
  ],
};

export const COMPARISONS: Feature<{ readonly pack: Pack; readonly state: KeyValueStore }, ComparisonsParts> =
  {
    name: "parity",
    member: "sources",
    page: { address: "parity", title: "Parity" },
    setting: "CANDIDATE_MAPPINGS_DIR",
    commands: COMPARISONS_COMMANDS,
    open(settings, needs, { metrics, log }) {
      const { state } = needs;
      let { pack } = needs;
      const createParts = () => ({ redaction: createRedaction(pack, settings), cover: createCoverage(pack) });
      let parts: ReturnType<typeof createParts> | undefined;
      const openParts = () => (parts ??= createParts());
      // No work starts before the first result.
      const { report, close } = openComparisons({
        state,
        metrics,
        log,
        redaction: () => openParts().redaction,
        cover: (route, body) => openParts().cover(route, body),
      });
      return {
        report,
        close,
        isShown: settings.CANDIDATE_MAPPINGS_DIR !== undefined || settings.ROLLOUT_FILE !== undefined,
        parameters: QUERY,
        async status(query) {
          const sources = await summarizeComparisons(state, { ...query, pack });
          return sources.map((source) => ({ ...source, routes: source.routes.map(boundRoute) }));
        },
        async describe() {
          const sources = await summarizeComparisons(state, { ...QUERY.parse({}), pack });
          return outlineComparisons(sources, { isComplete: true });
        },
        items: {
          name: "example",
          async read(id) {
            const example = await readExample(state, id);
            return example && describeExample(example, pack);
          },
        },
        usePack(next) {
          pack = next;
          parts = undefined;
        },
      };
    },
  };
