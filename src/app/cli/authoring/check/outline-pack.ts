/** The output of `check` for a valid pack, as blocks. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { coverageOf, type ExampleResult, EXAMPLES_FOLDER } from "../../../../authoring/index.ts";
import { type Block, cutText, type Item, plural } from "../../../../base/index.ts";
import type { Expression } from "../../../../jsonata/index.ts";
import { type ApiSurface, type Pack, type PackSummary, summarizePack } from "../../../../pack/index.ts";
import type { CheckedFolder } from "./checked-folder.ts";

/** Maximum number of characters of an expression that are printed. Longer ones contain functions of the pack. */
const MOST_SHOWN = 120;

/** Formats the location and the start of an expression. */
const describeExpression = ({ source, origin }: Expression): string =>
  `${origin ? `${origin.place} ${origin.path}: ` : ""}${cutText(source.trim().replaceAll(/\s+/g, " "), MOST_SHOWN)}`;

/** Lists the number of expressions that run as JavaScript, and a line with the reason for each interpreted one. */
function describeEngines(expressions: readonly Expression[]): Item {
  const interpreted = expressions.filter(({ engine }) => engine === "interpreted");
  const lines = interpreted.map(
    (expression) => `interpreted: ${describeExpression(expression)} (${expression.fallback})`,
  );
  return {
    line: `expressions compiled ${expressions.length - interpreted.length}, interpreted ${interpreted.length}`,
    items: [...new Set(lines.sort())],
  };
}

/** Lists the routes that have no upstream call, each with its response. */
function describeLocalRoutes(routes: PackSummary["routes"], upstream: string): Item[] {
  const local = routes.filter(({ alone: response }) => response !== null);
  if (local.length === 0) return [];
  const width = Math.max(...local.map(({ alpha }) => alpha.length));
  const items = local.map(({ alpha, alone: response }) => `${alpha.padEnd(width)}  ${response}`);
  return [{ line: `routes without a ${upstream} call ${local.length}:`, items }];
}

/** Maximum number of open points in the text. */
const MOST_LISTED = 30;

/** Describes the coverage of the API surface by the pack. Empty for a pack without `surface.yaml`. */
function describeSurface(pack: Pack): Item[] {
  const { surface } = pack;
  if (!surface) return [];
  const gaps = pack.gaps();
  const fields = [...surface.objects.values()].reduce((sum, object) => sum + object.size, 0);
  const open = (of: "routes" | "fields"): number =>
    surface.openPoints.reduce((sum, point) => sum + point[of], 0);
  const mappedRoutes = surface.routes.length - gaps.unmappedRoutes.length - open("routes");
  const mappedFields = fields - gaps.unmappedFields.length - open("fields");
  return [
    `surface: ${mappedRoutes} of ${surface.routes.length} routes mapped, ${mappedFields} of ${fields} fields mapped`,
    ...describeOpenPoints(surface.openPoints),
  ];
}

/** Lists the open points, the most used first. */
function describeOpenPoints(points: ApiSurface["openPoints"]): Item[] {
  if (points.length === 0) return [];
  const more = points.length - MOST_LISTED;
  return [
    {
      line: `open points ${points.length}:`,
      items: [
        ...points.slice(0, MOST_LISTED).map(({ name, usage }) => `${name}: ${usage}`),
        ...(more > 0 ? [`and ${more} more (--format json has all)`] : []),
      ],
    },
  ];
}

/** Describes how many query parameters the pack defines, and whether others are ignored. */
function describeQueries({ routes }: Pack): string {
  const names = new Set(routes.flatMap(({ query }) => query.parameters.map(({ name }) => name)));
  const rejecting = routes.filter(({ query }) => query.rejectsUnknown).length;
  const others =
    rejecting === 0 || rejecting === routes.length
      ? `others are ${rejecting === 0 ? "ignored" : "rejected"}`
      : `others are rejected by ${plural(rejecting, "route")} and ignored by ${routes.length - rejecting}`;
  return `query parameters ${names.size}, ${others}`;
}

/** Lists the result of the golden cases, and the names that no case covers. A pack without cases gets one line. */
function describeExamples(directory: string, pack: Pack, results: readonly ExampleResult[]): Item[] {
  if (!existsSync(join(directory, EXAMPLES_FOLDER)))
    return [`golden cases: none, because the pack has no folder "${EXAMPLES_FOLDER}"`];
  const { routes, fields, missingRoutes, missingFields } = coverageOf(pack, results);
  const missing = [...missingRoutes, ...missingFields];
  return [
    {
      line: `golden cases: ${routes - missingRoutes.length} of ${routes} routes, ${fields - missingFields.length} of ${fields} fields`,
      items: missing.length > 0 ? [`without a golden case: ${missing.join(", ")}`] : [],
    },
    `${plural(results.length, "example")} passed`,
  ];
}

/** The content of the pack, and the coverage of its golden cases. */
export function outlinePack(directory: string, { pack, results, expressions }: CheckedFolder): Block[] {
  const { routes, objects, classes } = summarizePack(pack);
  const fields = objects.reduce((sum, object) => sum + object.fields.length, 0);
  const counts = Object.entries(classes).map(([name, count]) => `${name} ${count}`);
  const items: Item[] = [
    [plural(routes.length, "route"), plural(objects.length, "object"), plural(fields, "field")].join(", "),
    `fields by class: ${counts.join(", ")}`,
    ...describeSurface(pack),
    describeQueries(pack),
    ...describeLocalRoutes(routes, pack.dialect.upstream.name),
    describeEngines(expressions),
    ...describeExamples(directory, pack, results),
  ];
  return [{ kind: "list", items }];
}
