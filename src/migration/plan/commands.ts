/**
 * The actions of people on the plan: the commands `status`, `simulate` and `announce`, and the actions `pause` and
 * `resume`.
 */
import { z } from "zod";
import { type AuditStore, type ClientDirectory, isClientApi, MAX_LIMIT } from "../../audit/index.ts";
import {
  type Block,
  createAction,
  type FeatureAction,
  type FeatureCommands,
  formatMinute,
  type Item,
  lines,
  plural,
  STATE_SETTINGS,
} from "../../base/index.ts";
import { signOutRoutes } from "../../gateway/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { PlanNeeds, PlanParts } from "./plan-parts.ts";
import type { PlanClient } from "./plan-dates.ts";
import { planClientOf, summaryKeysOf } from "./proven-client.ts";
import { type PastCall, simulatePlan, type Simulation } from "./simulate.ts";

interface CommandNeeds extends PlanNeeds {
  readonly directory: () => ClientDirectory;
  readonly audit: AuditStore | undefined;
}

/** Returns the recorded calls of the old API, newest first. Calls with invented tokens belong to no client. */
async function* pastCalls(
  audit: AuditStore,
  { directory, pack }: { readonly directory: ClientDirectory; readonly pack: Pack },
  onProgress: (done: number) => void,
): AsyncGenerator<PastCall> {
  const { oauth } = pack.dialect;
  const unstopped = new Set(oauth && signOutRoutes(oauth));
  let before: string | undefined;
  let done = 0;
  do {
    const page = await audit.query({ limit: MAX_LIMIT, ...(before !== undefined && { before }) });
    for (const record of page.records) {
      const { route } = record.alpha;
      const { requests = 1 } = record;
      // Requests for the pages for clients are recorded with 0 requests.
      if (!isClientApi(record) || route === null || requests === 0) continue;
      if (record.client.accepted === false || unstopped.has(route)) continue;
      yield {
        time: Date.parse(record.time),
        client: planClientOf(record.client, directory),
        route,
        requests,
      };
    }
    onProgress((done += page.records.length));
    before = page.next ?? undefined;
  } while (before !== undefined);
}

/** Creates the function that finds out from the summaries whether a client called before a time. */
const calledBefore =
  ({ decisions }: AuditStore) =>
  async (client: PlanClient, before: number): Promise<boolean> => {
    const range = { since: new Date(0).toISOString(), until: new Date(before).toISOString() };
    return (await decisions.callsOf({ clients: summaryKeysOf(client), ...range })).hasCalled;
  };

const MAX_CLIENTS = 10;

const inWindows = (windows: number): string => (windows > 0 ? ` in ${plural(windows, "window")}` : "");

function describeStage({ name, calls, clients, windows, waiting }: Simulation["stages"][number]): Item {
  const waits = waiting > 0 ? `, ${plural(waiting, "window")} waiting for clients` : "";
  const during = windows + waiting > 0 ? ` in ${plural(windows, "window")}` : "";
  const more = clients.length - MAX_CLIENTS;
  return {
    line: `${name}: ${plural(calls, "call")} of ${plural(clients.length, "client")}${during}${waits}`,
    items: [
      ...clients
        .slice(0, MAX_CLIENTS)
        .map(
          (hit) =>
            `${hit.client ?? "without a token"}: ${plural(hit.calls, "call")}${inWindows(hit.windows)}`,
        ),
      ...(more > 0 ? [`and ${more} more`] : []),
    ],
  };
}

function describeSimulation({ recorded, stages }: Simulation): Block[] {
  const { from, until, weeks, calls, clients } = recorded;
  const repeated = `repeated each ${weeks === 1 ? "week" : plural(weeks, "week")}`;
  const head = `${plural(calls, "call")} of ${plural(clients, "client")}, recorded from ${formatMinute(from)} to ${formatMinute(until)} UTC, ${repeated}`;
  return [{ kind: "list", items: [head, ...stages.map(describeStage)] }];
}

export const PLAN_COMMANDS: FeatureCommands<CommandNeeds, PlanParts> = {
  settings: ["SUNSET_FILE", "CLIENTS_FILE", "MAPPINGS_DIR", "WORDS", ...STATE_SETTINGS, "DATABASE_URL"],
  otherSettings: ["AUDIT"],
  absence: "there is no plan",
  all: [
    {
      syntax: "status",
      description: "Print the active stages, the next stages, and pauses.",
      format: "json",
      // If there is no store, the past calls are unknown.
      audit: "where there is one",
      run: ({ parts }) => ({ blocks: parts.describe(), data: parts.status() }),
    },
    {
      syntax: "simulate",
      description:
        "Run the plan with recorded calls, and print the clients that each stage would affect. Change nothing.",
      format: "json",
      audit: "needed",
      async run({ parts, needs: { audit, directory, pack }, onProgress }) {
        if (!audit) throw new Error("a simulation needs the audit store");
        const data = await simulatePlan({
          plan: parts.plan(),
          calls: pastCalls(audit, { directory: directory(), pack }, onProgress),
          hadCalled: calledBefore(audit),
          now: Date.now(),
        });
        return { blocks: describeSimulation(data), data };
      },
    },
    {
      syntax: "announce",
      description: "Accept dates that are earlier than the published dates.",
      withoutStore: "the first gateway that starts with the plan publishes its dates",
      async run({ parts }) {
        await parts.announce();
        return {
          blocks: lines(
            "The dates of the plan are published. Running gateways accept the file within a few seconds.",
          ),
        };
      },
    },
  ],
};

/** One line without control characters, because it is displayed and logged. */
const line = z
  .string()
  .trim()
  .regex(/^[^\p{Cc}]{1,100}$/u);

const ORDER = z.strictObject({
  by: line,
  stage: line.nullable().default(null),
  reason: line.nullable().default(null),
});

/** Both stop or continue all stages, or one stage. */
export const PLAN_ACTIONS: readonly FeatureAction<PlanParts>[] = (["pause", "resume"] as const).map((name) =>
  createAction({
    name,
    form: ORDER,
    usage:
      'Send {"by": "your name"}, with "stage" to name one stage and "reason" if you like: texts of at most 100 characters.',
    async run(parts: PlanParts, order) {
      await parts.change(name, order);
      return {};
    },
  }),
);
