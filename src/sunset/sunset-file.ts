/** The file of `SUNSET_FILE`: the plan by which the old API ends. */
import { z } from "zod";
import type { ClientDirectory } from "../clients/client-directory.ts";
import { suggestionFor } from "../mapping/load/suggest.ts";
import { about } from "../mapping/schema/about.ts";
import type { OperatorFileKind, ReportProblem } from "../operator-files/operator-file.ts";
import type { Stage, PlanDefinition } from "./plan.ts";
import { findShortened, type PlanDates } from "./plan-dates.ts";
import { lengthOf, MAX_WINDOW_MS, patternProblem, type WindowRule } from "./windows.ts";

const day = z.iso.date("is not a date, YYYY-MM-DD");
const link = z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).max(500);
const MAX_NAME_LENGTH = 100;
const names = z.array(z.string().min(1).max(200)).max(200);
/** One line: it becomes a part of error bodies, and of labels. */
const line = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[^\p{Cc}]*$/u, "must be one line");

const stageDefinition = z.strictObject({
  name: about(
    line(MAX_NAME_LENGTH).optional(),
    "Name in the console, in metrics, and where the stage is paused. Default: what the stage does",
    "first brown-outs",
  ),
  freeze: about(
    day.optional(),
    "From this day on (UTC), clients that never used the old API get 403",
    "2026-11-01",
  ),
  brown_out: about(
    z.string().max(100).optional(),
    "When windows begin, in cron's five fields: in a window requests fail, or a field is left out",
    "0 10 * * 1",
  ),
  end: about(
    day.optional(),
    "From this day on (UTC), the routes and clients of this stage get 410",
    "2027-03-01",
  ),
  field: about(
    z
      .string()
      .regex(/^[^.\s]+\.\S+$/, "is not an object and a field, such as book.title")
      .optional(),
    "Object and field of the pack. The field is left out of responses in the windows of `brown_out`",
    "book.title",
  ),
  for: about(
    z
      .string()
      .regex(/^[1-9]\d{0,4}[mh]$/, "is not a length in minutes or hours, such as 30m or 4h")
      .optional(),
    "How long a window lasts, a day at most",
    "1h",
  ),
  zone: about(
    z.string().max(64).optional(),
    "Time zone of `brown_out`, `from` and `until`. Default: UTC",
    "Europe/Berlin",
  ),
  from: about(day.optional(), "Day of the first window", "2027-01-01"),
  until: about(day.optional(), "Day before which the last window begins. Default: none", "2027-02-01"),
  status: about(
    z.union([z.literal(500), z.literal(503)]).optional(),
    "Status in a window. Default: 500, which programs take for temporary and people notice",
    503,
  ),
  routes: about(names.optional(), "Routes, as the pack names them. Left out: all of them", [
    "GET /books",
    "POST /books",
  ]),
  clients: about(
    names.optional(),
    "Names of CLIENTS_FILE, or fingerprints of tokens. Left out: all of them",
    ["billing"],
  ),
  wait_for: about(
    names.optional(),
    "No window begins if one of these clients called the old API within 14 days before",
    ["billing"],
  ),
  text: about(
    line(500).optional(),
    "What clients read in the response, in addition to the reason and the link",
    "New applications use the new interface.",
  ),
});

type StageDefinition = z.output<typeof stageDefinition>;

const sunsetDefinition = z.strictObject({
  announced: about(day, "Day of the announcement (UTC): the `Deprecation` header (RFC 9745)", "2026-10-01"),
  end: about(
    day.optional(),
    "Day (UTC) from which on all requests get 410: the `Sunset` header (RFC 8594)",
    "2027-03-31",
  ),
  policy: about(
    link.optional(),
    'Page about the end: the `Link` header with rel="sunset"',
    "https://example.com/policy",
  ),
  guide: about(
    link.optional(),
    'Page about the new interface: the `Link` header with rel="deprecation"',
    "https://example.com/migrate",
  ),
  stages: about(z.array(stageDefinition).max(100).default([]), "What happens before the end, in order", [
    { freeze: "2026-11-01" },
  ]),
  allow: about(
    z.record(z.string().min(1).max(200), day).default({}),
    "Clients to which no stage applies before a day (UTC), by their names",
    { billing: "2027-06-30" },
  ),
});

export type SunsetDefinition = z.output<typeof sunsetDefinition>;

/** The form of the file. */
export const SUNSET_SCHEMA = sunsetDefinition;

/** Names of a pack. */
export interface PackNames {
  readonly routes: readonly string[];
  /** Fields of each object. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
}

/** What the names in a plan are checked against. */
export interface PlanContext extends PackNames {
  readonly directory: ClientDirectory;
  /** Whether there is an audit store, which knows when clients called. */
  readonly hasAudit: boolean;
  /** The dates that were published; undefined: none, or they may be shortened. */
  readonly published: PlanDates | undefined;
}

type Kind = Stage["kind"];

const KEYS: Readonly<Record<Kind, readonly (keyof StageDefinition)[]>> = {
  freeze: ["name", "freeze", "routes", "text"],
  brown_out: [
    "name",
    "brown_out",
    "for",
    "zone",
    "from",
    "until",
    "status",
    "routes",
    "clients",
    "wait_for",
    "text",
  ],
  end: ["name", "end", "routes", "clients", "text"],
  field: ["name", "field", "brown_out", "for", "zone", "from", "until", "routes", "clients", "wait_for"],
};

const FINGERPRINT = /^[0-9a-f]{16}$/;

const momentOf = (date: string): number => Date.parse(`${date}T00:00:00Z`);
const dayText = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** What a stage is by its keys; undefined with a report if that is not clear. */
function kindOf(stage: StageDefinition, index: number, report: ReportProblem): Kind | undefined {
  const path = ["stages", index];
  const given = (["freeze", "end"] as const).filter((key) => stage[key] !== undefined);
  const hasField = stage.field !== undefined;
  const kinds: Kind[] = [...given, ...(hasField ? ["field" as const] : [])];
  if (stage.brown_out !== undefined && !hasField) kinds.push("brown_out");
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

/** Reads the windows of a stage; undefined with reports if they are invalid. */
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

function checkNames(
  { stages, allow }: SunsetDefinition,
  { routes, fields, directory, hasAudit }: PlanContext,
  report: ReportProblem,
): void {
  const clientNames = directory.clients.map(({ name }) => name);
  function checkClient(name: string, path: readonly PropertyKey[]): void {
    if (directory.find(name) || FINGERPRINT.test(name)) return;
    report("AG_SUNSET_UNKNOWN_CLIENT", path, {
      message: `CLIENTS_FILE has no client "${name}"`,
      hint: suggestionFor(name, clientNames),
    });
  }
  for (const [index, stage] of stages.entries()) {
    for (const [at, route] of (stage.routes ?? []).entries())
      if (!routes.includes(route))
        report("AG_SUNSET_UNKNOWN_ROUTE", ["stages", index, "routes", at], {
          message: `the pack has no route "${route}"`,
          hint: suggestionFor(route, routes),
        });
    for (const key of ["clients", "wait_for"] as const)
      for (const [at, name] of (stage[key] ?? []).entries()) checkClient(name, ["stages", index, key, at]);
    if (stage.wait_for?.length && !hasAudit)
      report(
        "AG_SUNSET_NEEDS_AUDIT",
        ["stages", index, "wait_for"],
        "without an audit store nobody knows who called",
      );
    if (stage.field !== undefined) checkField(stage.field, index, fields, report);
  }
  for (const name of Object.keys(allow)) checkClient(name, ["allow", name]);
}

function checkField(text: string, index: number, fields: PlanContext["fields"], report: ReportProblem): void {
  const [object, field] = splitField(text);
  const known = fields.get(object);
  if (known && hasField(known, field)) return;
  report("AG_SUNSET_UNKNOWN_FIELD", ["stages", index, "field"], {
    message: known
      ? `the object "${object}" of the pack has no field "${field}"`
      : `the pack has no object "${object}"`,
    hint: known ? suggestionFor(field, known) : suggestionFor(object, [...fields.keys()]),
  });
}

/** A field may be an object of several fields of the pack. */
const hasField = (known: readonly string[], field: string): boolean =>
  known.some((name) => name === field || name.startsWith(`${field}.`));

/** Routes and fields of a plan that another pack does not have. */
export const findUnknownNames = (
  { stages }: PlanDefinition,
  { routes, fields }: PackNames,
): readonly string[] =>
  stages.flatMap((stage) => [
    ...stage.routes.filter((route) => !routes.includes(route)),
    ...(stage.kind === "field" && !hasField(fields.get(stage.object) ?? [], stage.field)
      ? [`${stage.object}.${stage.field}`]
      : []),
  ]);

const splitField = (text: string): [object: string, field: string] => {
  const dot = text.indexOf(".");
  return [text.slice(0, dot), text.slice(dot + 1)];
};

const startOf = ({ freeze, end, from }: StageDefinition): string | undefined => freeze ?? end ?? from;

/** Dates have one order: the announcement, the stages as they follow each other, the end. */
function checkOrder({ announced, end, stages }: SunsetDefinition, report: ReportProblem): void {
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

/** Without dates: a stage that is moved keeps its name, and its pause. */
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

/** Name of the stage that is the end for all. */
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

function datesOf(
  { end, allow }: SunsetDefinition,
  stages: readonly Stage[],
  directory: ClientDirectory,
): PlanDates {
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
    windows: Object.fromEntries(
      stages.flatMap((stage) => ("rule" in stage ? [[stage.name, momentOf(stage.rule.from)]] : [])),
    ),
  };
}

/** Reports dates that clients were told, and that the file shortens. */
function checkPublished(dates: PlanDates, { published }: PlanContext, report: ReportProblem): void {
  if (!published) return;
  for (const { what, published: before, now } of findShortened(published, dates))
    report("AG_SUNSET_SHORTENED", [], {
      message: `${what} was published as ${dayText(before)}, and is ${dayText(now)} now`,
      hint: "announce it to the clients, then run alpha-gateway sunset announce",
    });
}

/**
 * The kind of file of `SUNSET_FILE`.
 *
 * @param context Is called for each file that is read.
 */
export const sunsetFile = (
  context: () => PlanContext,
): OperatorFileKind<SunsetDefinition, PlanDefinition> => ({
  schema: sunsetDefinition,
  compile(definition, report) {
    const { announced, end, policy, guide } = definition;
    const known = context();
    const compiled = definition.stages.map((stage, index) => compileStage(stage, index, report));
    reportSameNames(compiled, report);
    checkNames(definition, known, report);
    checkOrder(definition, report);
    const stages = compiled.filter((stage) => stage !== undefined);
    const dates = datesOf(definition, stages, known.directory);
    checkPublished(dates, known, report);
    // Clients may have an end of their own in a plan without one for all.
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
