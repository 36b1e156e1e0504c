/**
 * Clients with tokens that the gateway issued. The old service does not accept such tokens, so that their requests
 * never return.
 */
import { z } from "zod";
import { createSharedDocument, type DocumentStore } from "../../base/index.ts";

/** The shared knowledge of replicas about such clients. */
export type TokenClients = ReturnType<typeof createTokenClients>;

/** Maximum number of clients, which is twice that of a client directory. */
const MAX_CLIENTS = 2000;

const schema = z.object({ tokens: z.array(z.string()) });

/** Creates the access to the shared knowledge. No data is read yet. */
export function createTokenClients(store: DocumentStore) {
  let known: ReadonlySet<string> = new Set();
  const document = createSharedDocument(store, {
    key: "rollout:clients",
    schema,
    empty: { tokens: [] },
    onRead: ({ tokens }) => void (known = new Set(tokens)),
  });
  const waiting = new Set<string>();
  return {
    all: (): readonly string[] => document.current().tokens,
    /** Records that a client uses such a token. */
    note(client: string): void {
      if (!known.has(client) && waiting.size < MAX_CLIENTS) waiting.add(client);
    },
    /** Reads the records of replicas, and writes waiting ones. @throws {StateUnavailableError} */
    async exchange(): Promise<void> {
      await document.refresh();
      const noted = [...waiting].filter((client) => !known.has(client));
      if (noted.length > 0)
        await document.change(({ tokens }) => ({
          tokens: [...new Set([...tokens, ...noted])].slice(0, MAX_CLIENTS),
        }));
      for (const client of noted) waiting.delete(client);
    },
  };
}
