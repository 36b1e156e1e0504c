/** Takes a row away with everything that hangs on it. */

import type { Shapes } from "../resources/shapes.ts";
import type { Row } from "../store/table.ts";
import type { Store } from "../store/store.ts";
import { childHome } from "./locate.ts";

export function deleteCascade(store: Store, name: keyof Shapes, row: Row<object>): void {
  for (const below of store.childResources(name)) {
    for (const child of store.table(below.name).inHome(childHome(name, row.id))) {
      deleteCascade(store, below.name, child);
    }
  }
  store.table(name).remove(row.id);
  store.resource(name).afterDelete?.(row, store);
}
