import type { Expression } from "../jsonata/index.ts";
import type { Pack } from "../mapping/pack.ts";
import { summarise, type PackSummary } from "../mapping/summary.ts";

/** How many expressions run as JavaScript, and why the others don't. */
function engines(expressions: readonly Expression[]): string[] {
  const interpreted = expressions.filter(({ engine }) => engine === "interpreted");
  const reasons = interpreted.map(({ source, fallback }) => `  interpreted: ${source.trim()} (${fallback})`);
  const count = expressions.length - interpreted.length;
  return [`expressions compiled ${count}, interpreted ${interpreted.length}`, ...reasons];
}

/** The routes that v4 does nothing for, each with what it answers. */
function withoutCounterpart(routes: PackSummary["routes"]): string[] {
  const alone = routes.filter(({ alone: answer }) => answer !== null);
  if (alone.length === 0) return [];
  const width = Math.max(...alone.map(({ alpha }) => alpha.length));
  const lines = alone.map(({ alpha, alone: answer }) => `  ${alpha.padEnd(width)}  ${answer}`);
  return [`without a v4 call of their own ${alone.length}:`, ...lines];
}

/** How much of the surface is served; nothing for a pack that does not say what there is. */
function served({ surface, gaps }: Pack): string[] {
  if (!surface) return [];
  const answered = surface.routes.length - gaps.unmappedRoutes.length;
  const fields = [...surface.objects.values()].reduce((sum, object) => sum + object.size, 0);
  return [
    `surface: ${answered} of ${surface.routes.length} routes answered, ` +
      `${fields - gaps.unmappedFields.length} of ${fields} fields named`,
  ];
}

/** What a pack covers, for people. */
export function coverage(pack: Pack, examples: number, expressions: readonly Expression[]): string {
  const { routes, objects, classes } = summarise(pack);
  const fields = objects.reduce((sum, object) => sum + object.fields.length, 0);
  const counts = Object.entries(classes).map(([name, count]) => `${name} ${count}`);
  return [
    `${routes.length} routes, ${objects.length} objects, ${fields} fields`,
    `fields by class: ${counts.join(", ")}`,
    ...served(pack),
    ...withoutCounterpart(routes),
    ...engines(expressions),
    `${examples} examples passed`,
    "",
  ].join("\n");
}
