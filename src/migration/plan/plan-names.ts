/** Names in a plan: routes and fields of a pack, and clients in the directory. */
import type { ClientDirectory } from "../../audit/index.ts";
import { type ReportProblem, suggestionFor } from "../../base/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { PlanDates } from "./plan-dates.ts";
import type { PlanDefinition } from "./plan.ts";
import type { StageDefinition, PlanText } from "./plan-definition.ts";

/** Names of a pack. */
interface PackNames {
  readonly routes: readonly string[];
  /** Fields of each object. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
}

/** Returns the names of a pack that a plan may use. */
export function packNames({ routes, resources }: Pick<Pack, "routes" | "resources">): PackNames {
  const fieldsOf = (name: string): string[] => {
    const resource = resources.get(name);
    if (!resource) return [];
    const inherited = resource.extends === undefined ? [] : fieldsOf(resource.extends);
    return [...inherited, ...resource.fields.keys()];
  };
  return {
    routes: routes.map(({ name }) => name),
    fields: new Map([...resources.keys()].map((name) => [name, fieldsOf(name)])),
  };
}

/** The valid names in a plan. */
export interface PlanContext extends PackNames {
  readonly directory: ClientDirectory;
  /** Whether there is an audit store, which records the calls of clients. */
  readonly hasAudit: boolean;
  /** The published dates. Undefined if missing, or if they may be shortened. */
  readonly published: PlanDates | undefined;
  /** Milliseconds since the epoch. Default: now. */
  readonly time?: number | undefined;
}

const FINGERPRINT = /^[0-9a-f]{16}$/;

/** Whether a plan can name a client. */
export const isClient = (name: string, directory: ClientDirectory): boolean =>
  directory.find(name) !== undefined || FINGERPRINT.test(name);

/**
 * Creates the check of names in a file, which reports unknown ones.
 *
 * @param subject What the name is missing in, such as `the pack has no route`
 * @param isKnown Default: whether the name is in `known`
 */
export const createNameCheck =
  (
    report: ReportProblem,
    code: `AG_${string}`,
    { subject, known }: { readonly subject: string; readonly known: readonly string[] },
    isKnown: (name: string) => boolean = (name) => known.includes(name),
  ) =>
  (name: string, ...path: readonly PropertyKey[]): void => {
    if (isKnown(name)) return;
    report(code, path, { message: `${subject} "${name}"`, hint: suggestionFor(name, known) });
  };

/** Reports names that neither the pack nor the client directory contains. */
export function checkNames(
  { stages, allow }: PlanText,
  { routes, fields, directory, hasAudit }: PlanContext,
  report: ReportProblem,
): void {
  const checkClient = createNameCheck(
    report,
    "AG_SUNSET_UNKNOWN_CLIENT",
    { subject: "CLIENTS_FILE has no client", known: directory.clients.map(({ name }) => name) },
    (name) => isClient(name, directory),
  );
  const ofPack = { subject: "the pack has no route", known: routes };
  const checkRoute = createNameCheck(report, "AG_SUNSET_UNKNOWN_ROUTE", ofPack);
  for (const [index, stage] of stages.entries()) {
    const { routes: named = [], field } = stage;
    for (const [at, route] of named.entries()) checkRoute(route, "stages", index, "routes", at);
    for (const key of ["clients", "wait_for"] as const)
      for (const [at, name] of (stage[key] ?? []).entries()) checkClient(name, "stages", index, key, at);
    if (!hasAudit) checkNeedsNoAudit(stage, index, report);
    if (field !== undefined) checkField(field, index, fields, report);
  }
  for (const name of Object.keys(allow)) checkClient(name, "allow", name);
}

/** Reports stages that need an audit store if there is none. */
function checkNeedsNoAudit(
  { freeze, wait_for: waitFor = [] }: StageDefinition,
  index: number,
  report: ReportProblem,
): void {
  const code = "AG_SUNSET_NEEDS_AUDIT";
  if (freeze !== undefined)
    report(code, ["stages", index, "freeze"], "a freeze needs the audit, which knows who called before");
  if (waitFor.length > 0)
    report(code, ["stages", index, "wait_for"], "wait_for needs the audit: set AUDIT to metadata or full");
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

/** Whether a field exists. It may be an object that contains several fields of the pack. */
const hasField = (known: readonly string[], field: string): boolean =>
  known.some((name) => name === field || name.startsWith(`${field}.`));

/** Returns the routes and fields of a plan that do not exist in a new pack. */
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

/** Splits `object.field`. */
export const splitField = (text: string): [object: string, field: string] => {
  const dot = text.indexOf(".");
  return [text.slice(0, dot), text.slice(dot + 1)];
};
