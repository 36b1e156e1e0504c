import type { Pack } from "../../mapping/pack.ts";
import type { Route } from "../../mapping/compile/route.ts";
import { fieldChange } from "./field-changes.ts";
import type { ObjectChanges } from "./model.ts";

/** Objects by their names, and those that they hold, each once, in the order in which they are met. */
function withHeld(names: readonly string[], pack: Pack): string[] {
  const met = new Set<string>();
  const meet = (name: string): void => {
    const resource = pack.resources.get(name);
    if (!resource || met.has(name)) return;
    met.add(name);
    for (const { object } of resource.fields.values()) if (object !== undefined) meet(object);
  };
  names.forEach(meet);
  return [...met];
}

/** v4's calls of the extra reads that these routes make. */
const besidesOf = (routes: readonly Route[], { dialect }: Pack): Map<string, string> =>
  new Map(
    routes.flatMap((route) =>
      route.related.map(({ name, endpoint }) => [
        name,
        `${endpoint.method} ${dialect.v4.prefix}${endpoint.template}`,
      ]),
    ),
  );

/** What changes in the objects that answers of these routes show; objects without a change are left out. */
export function objectChanges(routes: readonly Route[], pack: Pack): ObjectChanges[] {
  const showing = routes.filter(
    ({ response, source }) => ["list", "object"].includes(response) && !("error" in source),
  );
  // A list does without the extra reads of the object itself: they are told from there all the same.
  const siblings = pack.routes.filter(({ object }) => showing.some((route) => route.object === object));
  const besides = besidesOf(siblings, pack);
  const names = showing.flatMap(({ responseObjects }) => responseObjects);
  return withHeld(names, pack).flatMap((object) => {
    const all = [...(pack.resources.get(object)?.fields ?? [])];
    const fields = all.flatMap(
      ([name, rule]) => fieldChange(name, rule, { pack, direction: "read", besides }) ?? [],
    );
    return fields.length === 0 ? [] : [{ object, same: all.length - fields.length, fields }];
  });
}
