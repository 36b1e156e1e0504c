/** Reads `ROLLOUT_FILE`, which defines the clients that get the translation. */
import { BUCKETS, type ClientDirectory } from "../../audit/index.ts";
import { type OperatorFileKind, type ReportProblem, suggestionFor } from "../../base/index.ts";
import { ROLLOUT_SCHEMA, type RolloutDefinition, type RuleDefinition } from "./definition.ts";
import type { RolloutConfig, RolloutRule } from "./rules.ts";
import type { RolloutData } from "../../compare/index.ts";

/** The valid names in a file. */
interface RolloutContext {
  /** Names of the pack's routes. */
  readonly routes: readonly string[];
  readonly directory: ClientDirectory;
}

const MB = 1024 ** 2;
const MAX_MEMORY_MB = 256;
const MAX_LAG_MS = 600_000;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
const lagOf = (text: string): number => Number.parseInt(text, 10) * (UNITS[text.replace(/^\d+/, "")] ?? 0);

/** Converts a share, `2.5%`, to buckets. */
const bucketsOf = (share: string): number => Math.round(Number.parseFloat(share) * (BUCKETS / 100));

function dataOf(data: RolloutDefinition["data"], report: ReportProblem): RolloutData {
  if (typeof data === "string") return { kind: data };
  const lagMs = lagOf(data.replicated);
  if (lagMs > MAX_LAG_MS)
    report("AG_ROLLOUT_BOUND", ["data", "replicated"], `${data.replicated} is longer than ten minutes`);
  return { kind: "replicated", lagMs };
}

function checkRoutes(
  names: readonly string[],
  path: readonly PropertyKey[],
  { routes }: RolloutContext,
  report: ReportProblem,
): void {
  for (const [index, name] of names.entries())
    if (!routes.includes(name))
      report("AG_ROLLOUT_UNKNOWN_ROUTE", [...path, index], {
        message: `the pack has no route "${name}"`,
        hint: suggestionFor(name, routes),
      });
}

function checkClients(
  names: readonly string[],
  path: readonly PropertyKey[],
  { directory }: RolloutContext,
  report: ReportProblem,
): void {
  for (const [index, name] of names.entries())
    if (!directory.find(name))
      report("AG_ROLLOUT_UNKNOWN_CLIENT", [...path, index], {
        message: `CLIENTS_FILE has no client "${name}"`,
        hint: suggestionFor(
          name,
          directory.clients.map(({ name: known }) => known),
        ),
      });
}

/** Returns the clients that a rule names, each with the reason in words. */
function clientsOf(
  { waves, clients }: RuleDefinition,
  index: number,
  definition: RolloutDefinition,
  report: ReportProblem,
): ReadonlyMap<string, string> | undefined {
  if (!waves && !clients) return undefined;
  const named = new Map<string, string>();
  for (const [at, wave] of (waves ?? []).entries()) {
    if (!Object.hasOwn(definition.waves, wave))
      report("AG_ROLLOUT_UNKNOWN_WAVE", ["new", index, "waves", at], {
        message: `the file has no wave "${wave}"`,
        hint: suggestionFor(wave, Object.keys(definition.waves)),
      });
    for (const name of definition.waves[wave] ?? []) named.set(name, `wave ${wave}`);
  }
  for (const name of clients ?? []) named.set(name, "named in the file");
  return named;
}

/** Reports the combinations that `data` forbids: with copied data, a client's reads and writes must be on one side. */
function checkData(
  { data }: RolloutDefinition,
  { routes }: RuleDefinition,
  index: number,
  report: ReportProblem,
): void {
  if (data === "shared" || !routes) return;
  report("AG_ROLLOUT_DATA", ["new", index, "routes"], {
    message: "with data: replicated a client is on one side with all its routes",
    hint: "name clients, waves or a share, and no routes",
  });
}

function compileRule(
  rule: RuleDefinition,
  index: number,
  definition: RolloutDefinition,
  context: RolloutContext,
  report: ReportProblem,
): RolloutRule {
  const { clients, share, routes } = rule;
  if (Object.keys(rule).length === 0)
    report(
      "AG_ROLLOUT_RULE",
      ["new", index],
      "the rule names no client. To select every request, write new: all",
    );
  const named = clientsOf(rule, index, definition, report);
  if (named && share !== undefined)
    report("AG_ROLLOUT_RULE", ["new", index, "share"], {
      message: "a rule names clients, or a share of all clients",
      hint: "make two rules of it",
    });
  checkClients(clients ?? [], ["new", index, "clients"], context, report);
  checkRoutes(routes ?? [], ["new", index, "routes"], context, report);
  checkData(definition, rule, index, report);
  return {
    why: share === undefined ? "all clients" : `${share} of the clients`,
    clients: named,
    share: share === undefined ? undefined : bucketsOf(share),
    routes: routes && new Set(routes),
  };
}

/** Maximum number of equal responses between two differences. After more, the score of the first difference would be lost. */
const MAX_EQUAL = 120;

function checkTurnBack(
  { turn_back: { differences, within } }: RolloutDefinition,
  report: ReportProblem,
): void {
  if (within >= differences && within <= differences + MAX_EQUAL) return;
  const message = `it must be from ${differences} to ${differences + MAX_EQUAL} for ${differences} differences`;
  report("AG_ROLLOUT_BOUND", ["turn_back", "within"], message);
}

function memoryOf({ compare: { memory } }: RolloutDefinition, report: ReportProblem): number {
  const megabytes = Number.parseInt(memory, 10);
  if (megabytes < 1 || megabytes > MAX_MEMORY_MB)
    report("AG_ROLLOUT_BOUND", ["compare", "memory"], `${memory} is not from 1mb to ${MAX_MEMORY_MB}mb`);
  return megabytes * MB;
}

const EVERYBODY: RolloutRule = {
  why: "all clients",
  clients: undefined,
  share: undefined,
  routes: undefined,
};

/**
 * Creates the kind of file of `ROLLOUT_FILE`.
 *
 * @param context called for each file that is read
 */
export const rolloutFile = (
  context: () => RolloutContext,
): OperatorFileKind<RolloutDefinition, RolloutConfig> => ({
  schema: ROLLOUT_SCHEMA,
  compile(definition, report) {
    const known = context();
    const { compare, waves, new: rules, turn_back: turnBack, salt } = definition;
    for (const [name, clients] of Object.entries(waves))
      checkClients(clients, ["waves", name], known, report);
    checkRoutes(compare.skip, ["compare", "skip"], known, report);
    checkTurnBack(definition, report);
    return {
      data: dataOf(definition.data, report),
      compare: {
        share: bucketsOf(compare.share),
        perSecond: compare.per_second,
        memoryBytes: memoryOf(definition, report),
        clientShare: bucketsOf(compare.client_share) / BUCKETS,
        skippedRoutes: new Set(compare.skip),
      },
      waves: new Map(Object.entries(waves)),
      rules:
        rules === "all"
          ? [EVERYBODY]
          : rules.map((rule, index) => compileRule(rule, index, definition, known, report)),
      turnBack,
      salt,
    };
  },
});
