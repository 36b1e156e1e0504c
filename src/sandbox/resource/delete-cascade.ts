/** Takes a row away with everything that hangs on it. */

import type { Shapes } from "../resources/shapes.ts";
import type { Row } from "../store/table.ts";
import type { World } from "../store/world.ts";
import { homeBelow } from "./locate.ts";

export function deleteCascade(world: World, name: keyof Shapes, row: Row<object>): void {
  for (const below of world.below(name)) {
    for (const child of world.table(below.name).of(homeBelow(name, row.id))) {
      deleteCascade(world, below.name, child);
    }
  }
  world.table(name).remove(row.id);
  world.resource(name).dropped?.(row, world);
}
