/** The plan for the end of the old API: `SUNSET_FILE`, and the state about it that replicas share. */
import { errorText, type Feature, type Log, type Metrics, plural, RefusedError } from "../../base/index.ts";
import { PLAN_ACTIONS, PLAN_COMMANDS } from "./commands.ts";
import { createControl, type PlanControl } from "./control.ts";
import { createKnownClients } from "./known-clients.ts";
import { describePlan, planBlocks, type PlanStatus, stopForm } from "./plan-status.ts";
import { createPlan, type Plan, type PlanDefinition } from "./plan.ts";
import { createPlanInForce, type PlanRuntime } from "./plan-in-force.ts";
import type { PlanNeeds, PlanParts } from "./plan-parts.ts";
import { findUnknownNames, packNames } from "./plan-names.ts";
import { PLAN_SCHEMA } from "./plan-definition.ts";
import { planFile } from "./plan-file.ts";

/** Interval in milliseconds in which open brown-outs are prepared. */
const TICK_MS = 1000;

/** The log text while the shared state can't be read. */
const STATE_UNKNOWN = {
  code: "AG_SUNSET_STATE_UNKNOWN",
  begins: "the shared state of the plan can't be read: the last known state applies",
  ends: "the shared state of the plan can be read again",
} as const;

/** Stores the dates of a plan as published. Never rejects. */
async function publish({ dates }: Plan, control: PlanControl, log: Log): Promise<void> {
  await control.publish(dates).catch((error: unknown) => {
    log.error(
      { code: "AG_SUNSET_PUBLISH_FAILED", error: errorText(error) },
      "the dates of the plan could not be stored: a shorter one would not be noticed",
    );
  });
}

/** Checks that a plan contains a stage, or that a pause does: a paused stage may have been removed. @throws {RefusedError} */
function assertStage({ stages, pauses }: PlanStatus, stage: string | null): void {
  const isKnown = stages.some(({ name }) => name === stage) || pauses.some((each) => each.stage === stage);
  if (stage !== null && !isKnown)
    throw new RefusedError("AG_SUNSET_NO_STAGE", `The plan has no stage "${stage}".`, { isUnknown: true });
}

/** Adds the gauges of the plan. */
function addGauges(
  metrics: Pick<Metrics, "addGauge">,
  {
    rules,
    control,
    status,
  }: Pick<PlanParts, "status"> & { readonly rules: PlanRuntime; readonly control: PlanControl },
): void {
  metrics.addGauge("sunset_in_force", "1 while the sunset plan applies to requests, otherwise 0.", () =>
    Number(rules.isInForce()),
  );
  metrics.addGauge("sunset_paused", "Pauses of the sunset plan.", () => control.state().pauses.length);
  metrics.addGauge(
    "sunset_stages_active",
    "Stages of the sunset plan that apply now.",
    () => status().stages.filter(({ state }) => state === "active").length,
  );
}

export const PLAN: Feature<PlanNeeds, PlanParts | undefined> = {
  name: "sunset",
  member: "plan",
  setting: "SUNSET_FILE",
  schema: PLAN_SCHEMA,
  // Dates that were published must not become earlier.
  checksWith: { clients: true, state: true },
  page: {
    address: "plan",
    title: "Plan",
    absent: [
      "There is no plan",
      "SUNSET_FILE names the file of a plan: dates and stages by which the old API ends.",
    ],
  },
  commands: PLAN_COMMANDS,
  actions: PLAN_ACTIONS,
  async open({ SUNSET_FILE: file, AUDIT }, needs, { log, metrics, isReadOnly, readFile, repeat }) {
    if (file === undefined) return undefined;
    const { clients, audit } = needs;
    const { current: directory } = clients;
    const control = createControl(needs.state);
    let names = packNames(needs.pack);
    let mayShorten = needs.isAnnounced;
    let plan: Plan | undefined;
    let isConfirmed = false;

    async function accept(definition: PlanDefinition): Promise<void> {
      plan = createPlan(definition);
      isConfirmed = control.isKnown();
      // The dates are published after requests are decided by them.
      if (!isReadOnly && isConfirmed) await publish(plan, control, log);
    }

    let onTick = (): void => {};
    let readAgain = (): void => {};
    const tick = repeat(
      TICK_MS,
      async () => {
        onTick();
        const hadStore = control.isKnown();
        // A file that shortened a date is accepted after the date was announced.
        if ((await control.refresh()) || !hadStore) readAgain();
      },
      STATE_UNKNOWN,
    );
    await tick();
    const kind = planFile(() => ({
      ...names,
      directory: clients.candidate(),
      hasAudit: AUDIT !== "off",
      published: mayShorten ? undefined : control.published(),
    }));
    const watched = readFile("SUNSET_FILE", file, kind, {
      join: clients.join,
      onChange: (next) => void accept(next),
    });
    readAgain = watched.reload;
    await accept(watched.current());
    mayShorten = false;

    const current = (): Plan => plan ?? createPlan(watched.current());
    const rules = createPlanInForce({
      plan: current,
      directory,
      control,
      isConfirmed: () => isConfirmed,
      known: audit && createKnownClients(audit.decisions, directory, () => names.routes),
      decisions: audit?.decisions,
      log,
      metrics,
      clock: Date.now,
    });
    // A command reports an unreadable store. A gateway only logs it, because a pause must not wait for the audit store.
    await (isReadOnly ? rules.readWindows() : rules.prepareWindows());
    onTick = () => void rules.prepareWindows();

    const status = (): PlanStatus => describePlan(current(), { control, rules, time: Date.now() });
    addGauges(metrics, { rules, control, status });
    return {
      rules,
      plan: current,
      status,
      describe: () => planBlocks(status()),
      form: () => stopForm(status()),
      summary: () => plural(watched.current().stages.length, "stage"),
      announce: () => control.publish(current().dates),
      async change(what, action) {
        assertStage(status(), action.stage);
        await control[what](action);
        log.info(action, `the plan was ${what}d`);
      },
      missingNames: (next) => findUnknownNames(current(), packNames(next)),
      usePack: (next) => void (names = packNames(next)),
    };
  },
};
