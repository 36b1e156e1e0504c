/** Reads `ROLLOUT_FILE`, which defines the clients that get the translation. */
import { BUCKETS, type ClientDirectory } from "../../audit/index.ts";
import type { OperatorFileKind, ReportProblem } from "../../base/index.ts";
import { createNameCheck } from "../plan/plan-names.ts";
import { ROLLOUT_SCHEMA, type RolloutDefinition, type RuleDefinition } from "./definition.ts";
import type { RolloutConfig, RolloutRule } from "./rules.ts";

/** The valid names in a file. */
interface RolloutContext {
  /** Names of the pack's routes. */
  readonly routes: readonly string[];
  readonly directory: ClientDirectory;
}

const MB = 1024 ** 2;
const MAX_MEMORY_MB = 256;
const MAX_LAG_MS = 600_000;
/** Maximum number of equal responses between two differences. After more, the score of the first difference would be lost. */
const MAX_EQUAL = 120;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
const lagOf = (text: string): number => Number.parseInt(text, 10) * (UNITS[text.replace(/^\d+/, "")] ?? 0);

/** Converts a share, `2.5%`, to buckets. */
const bucketsOf = (share: string): number => Math.round(Number.parseFloat(share) * (BUCKETS / 100));

const EVERYBODY: RolloutRule = {
  why: "all clients",
  clients: undefined,
  share: undefined,
  routes: undefined,
};

/** Returns the clients that a rule names, each with the reason in words. */
function clientsOf({ waves, clients }: RuleDefinition, all: RolloutDefinition["waves"]) {
  if (!waves && !clients) return undefined;
  return new Map([
    ...(waves ?? []).flatMap((wave) => (all[wave] ?? []).map((name) => [name, `wave ${wave}`] as const)),
    ...(clients ?? []).map((name) => [name, "named in the file"] as const),
  ]);
}

const compileRule = (rule: RuleDefinition, waves: RolloutDefinition["waves"]): RolloutRule => ({
  why: rule.share === undefined ? "all clients" : `${rule.share} of the clients`,
  clients: clientsOf(rule, waves),
  share: rule.share === undefined ? undefined : bucketsOf(rule.share),
  routes: rule.routes && new Set(rule.routes),
});

/** Reports names that neither the pack, nor the client directory, nor the file contains. */
function checkNames(
  { waves, compare, new: rules }: RolloutDefinition,
  { routes, directory }: RolloutContext,
  report: ReportProblem,
): void {
  const check = (code: `AG_${string}`, subject: string, known: readonly string[]) => {
    const checkName = createNameCheck(report, code, { subject, known });
    return (names: readonly string[] = [], ...path: readonly PropertyKey[]): void => {
      for (const [index, name] of names.entries()) checkName(name, ...path, index);
    };
  };
  const clientNames = directory.clients.map(({ name }) => name);
  const checkRoutes = check("AG_ROLLOUT_UNKNOWN_ROUTE", "the pack has no route", routes);
  const checkClients = check("AG_ROLLOUT_UNKNOWN_CLIENT", "CLIENTS_FILE has no client", clientNames);
  const checkWaves = check("AG_ROLLOUT_UNKNOWN_WAVE", "the file has no wave", Object.keys(waves));
  for (const [wave, clients] of Object.entries(waves)) checkClients(clients, "waves", wave);
  checkRoutes(compare.skip, "compare", "skip");
  for (const [index, rule] of rules === "all" ? [] : rules.entries()) {
    checkWaves(rule.waves, "new", index, "waves");
    checkClients(rule.clients, "new", index, "clients");
    checkRoutes(rule.routes, "new", index, "routes");
  }
}

/** Reports rules without a client, rules with two kinds of clients, and the combinations that `data` forbids. */
function checkRules({ data, new: rules }: RolloutDefinition, report: ReportProblem): void {
  for (const [index, { waves, clients, share, routes }] of rules === "all" ? [] : rules.entries()) {
    const path = ["new", index];
    const named = waves ?? clients;
    if ((named ?? share ?? routes) === undefined)
      report("AG_ROLLOUT_RULE", path, "the rule names no client. To select every request, write new: all");
    if (named && share !== undefined)
      report("AG_ROLLOUT_RULE", [...path, "share"], {
        message: "a rule names clients, or a share of all clients",
        hint: "make two rules of it",
      });
    // With copied data, a client's reads and writes must be on one side.
    if (data !== "shared" && routes)
      report("AG_ROLLOUT_DATA", [...path, "routes"], {
        message: "with data: replicated a client is on one side with all its routes",
        hint: "name clients, waves or a share, and no routes",
      });
  }
}

function checkBounds({ data, compare, turn_back: turnBack }: RolloutDefinition, report: ReportProblem): void {
  if (data !== "shared" && lagOf(data.replicated) > MAX_LAG_MS)
    report("AG_ROLLOUT_BOUND", ["data", "replicated"], `${data.replicated} is longer than ten minutes`);
  const megabytes = Number.parseInt(compare.memory, 10);
  if (megabytes < 1 || megabytes > MAX_MEMORY_MB)
    report(
      "AG_ROLLOUT_BOUND",
      ["compare", "memory"],
      `${compare.memory} is not from 1mb to ${MAX_MEMORY_MB}mb`,
    );
  const { differences, within } = turnBack;
  if (within < differences || within > differences + MAX_EQUAL)
    report(
      "AG_ROLLOUT_BOUND",
      ["turn_back", "within"],
      `it must be from ${differences} to ${differences + MAX_EQUAL} for ${differences} differences`,
    );
}

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
    const { data, compare, waves, new: rules, turn_back: turnBack, salt } = definition;
    checkNames(definition, context(), report);
    checkBounds(definition, report);
    checkRules(definition, report);
    return {
      data: data === "shared" ? { kind: data } : { kind: "replicated", lagMs: lagOf(data.replicated) },
      compare: {
        share: bucketsOf(compare.share),
        perSecond: compare.per_second,
        memoryBytes: Number.parseInt(compare.memory, 10) * MB,
        clientShare: bucketsOf(compare.client_share) / BUCKETS,
        skippedRoutes: new Set(compare.skip),
      },
      rules: rules === "all" ? [EVERYBODY] : rules.map((rule) => compileRule(rule, waves)),
      turnBack,
      salt,
    };
  },
});
