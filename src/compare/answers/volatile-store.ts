/** Stores the knowledge about the old service in the state store, so that a new process need not collect it again. */
import { hash } from "node:crypto";
import { z } from "zod";
import { createSharedDocument, type DocumentStore } from "../../base/index.ts";
import { VolatileFields } from "./volatile-fields.ts";

/**
 * Maximum number of characters of the stored document. The largest entries are omitted, because one client must not use
 * all of it.
 */
const MAX_STORED = 500_000;

/** A document is only written again after the number of pairs of a route has grown by this factor. */
const GROWTH = 1.1;

type Knowledge = ReturnType<VolatileFields["toJSON"]>;

/** Returns the part of the knowledge that fits. */
function withinBound(all: Knowledge): Knowledge {
  const entries = Object.entries(all).flatMap(([route, clients]) =>
    Object.entries(clients).map(([client, known]) => {
      const size = JSON.stringify([route, client, known]).length;
      return { route, client, known, size };
    }),
  );
  let left = MAX_STORED;
  const kept: Knowledge = {};
  for (const { route, client, known, size } of entries.sort((one, other) => one.size - other.size)) {
    left -= size;
    if (left >= 0) (kept[route] ??= {})[client] = known;
  }
  return kept;
}

const totalOf = (route: Knowledge[string] = {}): number =>
  Object.values(route).reduce((sum, { total }) => sum + total, 0);

const isWorthWriting = (stored: Knowledge, known: Knowledge): boolean =>
  Object.entries(known).some(([name, route]) => {
    const total = totalOf(route);
    return total > 0 && total >= totalOf(stored[name]) * GROWTH;
  });

/**
 * Creates the function that merges the knowledge of this process and the stored knowledge. Both then contain the better
 * knowledge for each route.
 *
 * @param service URL of the old service. Knowledge about a different service is ignored
 * @returns a promise that rejects with a `StateUnavailableError`
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
  return () =>
    document.change((value) => {
      volatile.adopt(value);
      const known = withinBound(volatile.toJSON());
      return isWorthWriting(new VolatileFields(value).toJSON(), known) ? structuredClone(known) : value;
    });
}
