/** Stores the knowledge about the old service in the state store, so that a new process need not learn it again. */
import { hash } from "node:crypto";
import { z } from "zod";
import { createSharedDocument, type DocumentStore } from "../../base/index.ts";
import type { VolatileFields } from "./volatile-fields.ts";

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
  return () =>
    document.change((stored) => {
      volatile.adopt(stored);
      return structuredClone(volatile.toJSON());
    });
}
