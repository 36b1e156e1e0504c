import type { FieldRule } from "../fields/field-definition.ts";
import { lossOf } from "../fields/loss.ts";
import type { ApiNames } from "../keys/key.ts";
import { valueClassOf } from "../fields/keys/field-keys.ts";
import { isFilterable } from "../fields/keys/filters.ts";
import type { Pack } from "./pack.ts";
import type { Route } from "../routes/route.ts";

/** How the value of an alpha field is determined (mappings/README.md, "What check counts"). */
export type FieldClass = (typeof FIELD_CLASSES)[number];
const FIELD_CLASSES = ["same", "renamed", "value", "expanded", "derived", "composed", "missing"] as const;

/** Returns the names of both APIs of a pack. */
export const apiNames = ({ dialect: { client, upstream } }: Pack): ApiNames => ({
  client: client.name,
  upstream: upstream.name,
});

/** The names of the headers that contain the filters of both sides; undefined for a side without such a header. */
export interface FilterHeaders {
  readonly client?: string | undefined;
  readonly upstream?: string | undefined;
}

/** Returns the names of the headers that contain the filters of a pack. */
export const filterHeadersOf = ({ dialect: { client, upstream } }: Pack): FilterHeaders => ({
  client: client.filters?.header,
  upstream: upstream.filters?.header,
});

/** The coverage of a pack, as JSON. `GET /api/mappings` returns it. */
export type PackSummary = ReturnType<typeof summarizePack>;

/** Returns the class of a field. */
export function classOf(name: string, rule: FieldRule): FieldClass {
  if (rule.const !== undefined) return rule.loss === undefined ? "derived" : "missing";
  if (rule.read?.includes("$calls")) return "composed";
  if (rule.upstream === undefined) return "derived";
  return valueClassOf(rule) ?? (rule.upstream === name ? "same" : "renamed");
}

/** Describes the calls that provide a response. @param prefix the prefix of all upstream paths */
export function describeSource(source: Route["source"], prefix: string): string {
  if ("error" in source) return "none";
  if ("call" in source) return `${source.call.method} ${prefix}${source.call.template}`;
  return source.catalog.calls.map(({ path }) => `GET ${prefix}${path}`).join(", ");
}

function describeLocalResponse(route: Route): string | null {
  const { source, response, name } = route;
  if ("error" in source) return `${source.error.status} ${source.error.reason}`;
  const acts = !name.startsWith("GET ");
  return acts && response === "none" && "call" in source && source.call.method === "GET" ? "200 {}" : null;
}

/** Returns the scope that a route requires, as written in the pack. */
export const scopeOf = ({ access }: Route, levels: readonly string[]): string =>
  typeof access === "string" ? access : `${access.resource}:${levels[access.level]}`;

/** Summarizes the coverage of a pack, for `check`, the console and the migration report. */
export function summarizePack(pack: Pack) {
  const { upstream, scopes } = pack.dialect;
  const objects = [...pack.resources.values()].map(({ name: object, fields }) => ({
    name: object,
    fields: [...fields].map(([name, rule]) => ({
      name,
      v4: rule.upstream ?? null,
      class: classOf(name, rule),
      /** The loss, or null. */
      loss: rule.loss ?? null,
      /** The severity of the loss, or null if missing. */
      severity: lossOf(name, rule)?.severity ?? null,
      filter: isFilterable(rule),
    })),
  }));
  /** Fields by class. `lossy` counts all fields with a loss. */
  const classes = Object.fromEntries([...FIELD_CLASSES, "lossy"].map((name) => [name, 0])) as Record<
    FieldClass | "lossy",
    number
  >;
  for (const field of objects.flatMap(({ fields }) => fields)) {
    classes[field.class] += 1;
    if (field.loss !== null && field.class !== "missing") classes.lossy += 1;
  }
  const routes = pack.routes.map((route) => ({
    alpha: route.name,
    v4: describeSource(route.source, upstream.base_path),
    scope: scopeOf(route, scopes?.levels ?? []),
    losses: route.losses.length,
    /** The gateway's own response if v4 has no such call, or is only asked whether the object exists; otherwise null. */
    alone: describeLocalResponse(route),
  }));
  return { routes, objects, classes };
}
