/** Reads `SUNSET_FILE`: the plan for the end of the old API. */
import type { ClientDirectory } from "../../audit/index.ts";
import { formatDay, type OperatorFileKind, type ReportProblem, type YamlPath } from "../../base/index.ts";
import { findShortened, isWithin, type PlanDates, type ShortenedDate } from "./plan-dates.ts";
import { checkNames, isClient, splitField, type PlanContext } from "./plan-names.ts";
import { fieldOf, type PlanDefinition, type Stage } from "./plan.ts";
import { MAX_NAME_LENGTH, PLAN_SCHEMA, type StageDefinition, type PlanText } from "./plan-definition.ts";
import { lengthOf, MAX_WINDOW_MS, patternProblem, type WindowRule } from "./windows.ts";

type Kind = Stage["kind"];

const WINDOW_KEYS = ["brown_out", "for", "zone", "from", "until", "routes", "clients", "wait_for"] as const;

const KEYS: Readonly<Record<Kind, readonly (keyof StageDefinition)[]>> = {
  freeze: ["name", "freeze", "routes", "text"],
  brown_out: ["name", ...WINDOW_KEYS, "status", "text"],
  end: ["name", "end", "routes", "clients", "text"],
  field: ["name", "field", ...WINDOW_KEYS],
};

const momentOf = (date: string): number => Date.parse(`${date}T00:00:00Z`);

/** Returns the kind of a stage according to its keys; reports a problem, and returns undefined, if it is ambiguous. */
function kindOf(stage: StageDefinition, index: number, report: ReportProblem): Kind | undefined {
  const path = ["stages", index];
  // A field has brown-outs too.
  const kinds = (["freeze", "end", "field", "brown_out"] as const).filter(
    (each) => stage[each] !== undefined && (each !== "brown_out" || stage.field === undefined),
  );
  const [kind, other] = kinds;
  if (kind === undefined || other !== undefined) {
    const message = "a stage has one of the keys freeze, brown_out, end and field";
    report("AG_SUNSET_STAGE_KIND", path, message);
    return undefined;
  }
  for (const key of Object.keys(stage) as (keyof StageDefinition)[])
    if (stage[key] !== undefined && !KEYS[kind].includes(key))
      report("AG_SUNSET_STAGE_KEY", [...path, key], `a stage with "${kind}" has no "${key}"`);
  if (kind === "end" && scopeText(stage) === "") {
    const message = 'without routes or clients it is the end for all: use the key "end" of the file';
    report("AG_SUNSET_STAGE_KEY", path, message);
    return undefined;
  }
  return kind;
}

/** Reads the brown-outs of a stage; reports problems, and returns undefined, if they are invalid. */
function readWindows(stage: StageDefinition, index: number, report: ReportProblem): WindowRule | undefined {
  const path = ["stages", index];
  const { brown_out: pattern, for: length, from, until, zone = "UTC" } = stage;
  const missing = (["brown_out", "for", "from"] as const).filter((key) => stage[key] === undefined);
  for (const key of missing) report("AG_SUNSET_STAGE_KEY", path, `the key "${key}" is missing`);
  if (pattern === undefined || length === undefined || from === undefined) return undefined;
  const rule = { pattern, zone, from, until, lengthMs: lengthOf(length) };
  const problem = patternProblem(rule);
  if (problem !== undefined) {
    const isZone = patternProblem({ ...rule, zone: "UTC" }) === undefined;
    if (isZone)
      report("AG_SUNSET_ZONE", [...path, "zone"], `"${zone}" is not a time zone, such as Europe/Berlin`);
    else
      report(
        "AG_SUNSET_CRON",
        [...path, "brown_out"],
        `"${pattern}" is not a pattern of five fields: ${problem}`,
      );
    return undefined;
  }
  if (rule.lengthMs > MAX_WINDOW_MS)
    report("AG_SUNSET_WINDOW_TOO_LONG", [...path, "for"], `${length} is longer than a day`);
  if (until !== undefined && until <= from)
    report("AG_SUNSET_ORDER", [...path, "until"], `${until} is not after ${from}: no window begins`);
  return rule;
}

const startOf = ({ freeze, end, from }: StageDefinition): string | undefined => freeze ?? end ?? from;

/** Checks the order of dates: the announcement, the stages in order, the end. */
function checkOrder({ announced, end, stages }: PlanText, report: ReportProblem): void {
  if (end !== undefined && end < announced)
    report(
      "AG_SUNSET_END_BEFORE_ANNOUNCEMENT",
      ["end"],
      `${end} is before the announcement, ${announced} (RFC 9745, section 4)`,
    );
  let last = announced;
  for (const [index, stage] of stages.entries()) {
    const start = startOf(stage);
    if (start === undefined) continue;
    const key = (["freeze", "end", "from"] as const).find((each) => stage[each] !== undefined) ?? "from";
    const path = ["stages", index, key];
    if (start < last) {
      const before = last === announced && index === 0 ? "the announcement" : "that of the stage above it";
      report("AG_SUNSET_ORDER", path, `${start} is before ${before}, ${last}`);
    } else last = start;
    if (end !== undefined && start >= end)
      report(
        "AG_SUNSET_ORDER",
        path,
        `${start} is not before the end for all, ${end}: the stage has no effect`,
      );
  }
}

const scopeText = ({ routes = [], clients = [] }: StageDefinition): string =>
  [...routes, ...clients].length === 0 ? "" : ` of ${[...routes, ...clients].join(", ")}`;

/** Default names of stages. They contain no dates, so that a moved stage keeps its name and its pause. */
const DEFAULT_NAMES: Readonly<Record<Kind, (stage: StageDefinition) => string>> = {
  freeze: (stage) => `freeze${scopeText(stage)}`,
  brown_out: ({ brown_out: pattern, for: length }) => `brown-out ${pattern} for ${length}`,
  end: (stage) => `end${scopeText(stage)}`,
  field: ({ field }) => `field ${field}`,
};

function compileStage(stage: StageDefinition, index: number, report: ReportProblem): Stage | undefined {
  const kind = kindOf(stage, index, report);
  if (kind === undefined) return undefined;
  const { routes = [], clients = [], wait_for: waitFor = [], text, status = 500 } = stage;
  const base = {
    name: stage.name ?? DEFAULT_NAMES[kind](stage).slice(0, MAX_NAME_LENGTH),
    routes,
    clients,
    text,
  };
  if (kind === "freeze" || kind === "end") return { ...base, kind, date: momentOf(stage[kind] ?? "") };
  const rule = readWindows(stage, index, report);
  if (!rule) return undefined;
  if (kind === "brown_out") return { ...base, kind, rule, waitFor, status };
  const [object, field] = splitField(stage.field ?? "");
  return { ...base, kind, rule, waitFor, object, field };
}

/** Name of the stage that is the end for all clients. */
const END = "end";

function reportSameNames(stages: readonly (Stage | undefined)[], report: ReportProblem): void {
  const taken = new Set([END]);
  for (const [index, stage] of stages.entries()) {
    if (!stage) continue;
    if (taken.has(stage.name))
      report(
        "AG_SUNSET_STAGE_TWICE",
        ["stages", index],
        `another stage is called "${stage.name}" already: give it a name`,
      );
    taken.add(stage.name);
  }
}

function datesOf({ end, allow }: PlanText, stages: readonly Stage[], directory: ClientDirectory): PlanDates {
  const dated = (kind: "freeze" | "end") =>
    stages.flatMap((stage) =>
      stage.kind === kind ? [{ routes: stage.routes, clients: stage.clients, date: stage.date }] : [],
    );
  return {
    end: end === undefined ? null : momentOf(end),
    ends: dated("end"),
    freezes: dated("freeze"),
    allowed: Object.fromEntries(Object.entries(allow).map(([name, date]) => [name, momentOf(date)])),
    clientEnds: Object.fromEntries(
      directory.clients.flatMap(({ name, ends }) => (ends === undefined ? [] : [[name, momentOf(ends)]])),
    ),
    windowStages: stages.flatMap((stage) => {
      if (!("rule" in stage)) return [];
      const { name, routes, clients, rule } = stage;
      const until = rule.until === undefined ? null : momentOf(rule.until);
      return [{ stage: name, field: fieldOf(stage), routes, clients, date: momentOf(rule.from), until }];
    }),
  };
}

/** The location of a shortened date in the file; the whole file if it is the end date of a client in the client directory. */
function placeOf(
  { kind, route, client, stage: name, now }: ShortenedDate,
  { end, allow }: PlanText,
  stages: readonly (Stage | undefined)[],
): YamlPath {
  const planClient = { name: client ?? undefined, fingerprint: undefined };
  const index = stages.findIndex((stage) => {
    if (!stage) return false;
    if (name !== undefined) return stage.name === name;
    const [its, date] = "rule" in stage ? ["window", momentOf(stage.rule.from)] : [stage.kind, stage.date];
    return its === kind && date === now && isWithin(stage, planClient, route);
  });
  if (index >= 0) return ["stages", index, kind === "window" ? "from" : kind];
  const day = formatDay(now);
  if (client !== null && Object.hasOwn(allow, client) && allow[client] === day) return ["allow", client];
  return kind === "end" && end === day ? ["end"] : [];
}

/** Reports published dates that the file shortens. */
function checkPublished(
  definition: PlanText,
  dates: PlanDates,
  stages: readonly (Stage | undefined)[],
  context: PlanContext,
  report: ReportProblem,
): void {
  const { published, directory, time = Date.now() } = context;
  if (!published) return;
  for (const shortened of findShortened(published, dates, time)) {
    const { what, client, published: before, now } = shortened;
    const isGone = client !== null && !isClient(client, directory);
    const published = before === Infinity ? "for other clients or routes only" : `as ${formatDay(before)}`;
    report("AG_SUNSET_SHORTENED", placeOf(shortened, definition, stages), {
      message: `${what} was published ${published}, and is ${formatDay(now)} now${
        isGone ? `: CLIENTS_FILE has no client "${client}"` : ""
      }`,
      hint: `${isGone ? `keep "${client}" in CLIENTS_FILE, or ` : ""}announce it to the clients, then run alpha-gateway sunset announce`,
    });
  }
}

/**
 * Creates the kind of file of `SUNSET_FILE`.
 *
 * @param context called for each file that is read
 */
export const planFile = (context: () => PlanContext): OperatorFileKind<PlanText, PlanDefinition> => ({
  schema: PLAN_SCHEMA,
  compile(definition, report) {
    const { announced, end, policy, guide } = definition;
    const known = context();
    const compiled = definition.stages.map((stage, index) => compileStage(stage, index, report));
    reportSameNames(compiled, report);
    checkNames(definition, known, report);
    checkOrder(definition, report);
    const stages = compiled.filter((stage) => stage !== undefined);
    const dates = datesOf(definition, stages, known.directory);
    checkPublished(definition, dates, compiled, known, report);
    // Clients may have their own end date in a plan without a general one.
    const last = { kind: "end", name: END, routes: [], clients: [], text: undefined } as const;
    const hasEnd = end !== undefined || Object.keys(dates.clientEnds).length > 0;
    return {
      announced: momentOf(announced),
      dates,
      policy,
      guide,
      stages: hasEnd ? [...stages, { ...last, date: dates.end ?? Infinity }] : stages,
    };
  },
});
