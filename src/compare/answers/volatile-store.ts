/** Stores the knowledge about the old service in the state store, so that a new process need not learn it again. */
import { hash } from "node:crypto";
import { z } from "zod";
import { createSharedDocument, type DocumentStore } from "../../base/index.ts";
import type { VolatileFields } from "./volatile-fields.ts";
import { mergeVolatileStates, parseState, type RouteState, type VolatileState } from "./volatile-state.ts";

/**
 * Maximum characters of the stored document. Above it the largest entries are left out, because one client must not
 * use all of it.
 */
export const MAX_STORED = 500_000;

/**
 * A route is only written again after this much new knowledge, so that the store is not written for each comparison.
 */
const GROWTH = 1.1;

/** The stored part: as much as fits. */
function withinBound(state: VolatileState): VolatileState {
  let left = MAX_STORED;
  const sized = Object.entries(state).flatMap(([route, clients]) =>
    Object.entries(clients).map(([client, known]) => {
      const size = JSON.stringify([route, client, known]).length;
      return { route, client, known, size };
    }),
  );
  const kept: VolatileState = {};
  for (const { route, client, known, size } of sized.sort((one, other) => one.size - other.size)) {
    left -= size;
    if (left >= 0) (kept[route] ??= {})[client] = known;
  }
  return kept;
}

const totalOf = (route: RouteState = {}): number =>
  Object.values(route).reduce((sum, { total }) => sum + total, 0);

const isWorthWriting = (stored: VolatileState, known: VolatileState): boolean =>
  Object.entries(known).some(([name, route]) => {
    const total = totalOf(route);
    return total > 0 && total >= totalOf(stored[name]) * GROWTH;
  });

/**
 * Creates the function that merges the knowledge of this process and the stored knowledge. Both then have the better
 * of each route.
 *
 * @param service URL of the old service. Knowledge about another one is ignored
 * @returns Rejects with a `StateUnavailableError`.
 */
export function createVolatileStore(
  store: DocumentStore,
  volatile: VolatileFields,
  service: string,
): () => Promise<void> {
  const document = createSharedDocument<unknown>(store, {
    key: `parity:volatile:${hash("sha256", service).slice(0, 16)}`,
    schema: z.unknown(),
    empty: {},
  });
  return async function exchange() {
    await document.refresh();
    volatile.adopt(document.current());
    await document.change((value) => {
      const stored = parseState(value);
      const merged = withinBound(mergeVolatileStates([stored, volatile.toJSON()]));
      return isWorthWriting(stored, merged) ? merged : value;
    });
  };
}
