import type { FieldRule } from "./field-definition.ts";
import type { RouteDefinition } from "../routes/route-definition.ts";
import type { BodyRules } from "../bodies/body.ts";
import { lossOf, type Loss } from "./loss.ts";
import { objectLosses, type Resource } from "../load/resource.ts";

/** The possible losses of requests and responses of a route. */
export function routeLosses(
  { response }: RouteDefinition,
  responseObjects: readonly string[],
  body: BodyRules | undefined,
  { fields }: Resource,
  resources: ReadonlyMap<string, Resource>,
): Loss[] {
  const shown = response === "none" ? [] : responseObjects;
  // Other members of bodies are fields of the object, and their losses are those of the object, if that is shown.
  const isOwn = (name: string, { loss_when: condition }: FieldRule): boolean =>
    !fields.has(name) || (shown.length === 0 && condition === undefined);
  const inputs = (body?.members ?? []).filter(({ name, rule }) => isOwn(name, rule));
  return [
    ...shown.flatMap((name) => objectLosses(name, resources)),
    ...inputs.flatMap(({ name, rule }) => lossOf(name, rule) ?? []),
  ];
}
