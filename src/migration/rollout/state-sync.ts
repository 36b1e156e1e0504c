/** Reads and writes what replicas share. */
import type { Returns } from "./returns/returns.ts";
import type { RolloutConfig } from "./rules.ts";
import type { TokenClients } from "./token-clients.ts";

/** Reads and writes the shared state. */
export interface StateSync {
  /** Reads and writes. @throws {StateUnavailableError} */
  sync(): Promise<void>;
  /** The file in force. While the store can't be read, it is the last one before that. */
  confirmedConfig(): RolloutConfig;
}

/** One of this many reads also reads the clients with tokens of the gateway. */
const CLIENTS_EVERY = 5;

/** Creates it. Nothing is read yet. */
export function createStateSync({
  config,
  returns,
  tokenClients,
}: {
  readonly config: () => RolloutConfig;
  readonly returns: Pick<Returns, "tick">;
  readonly tokenClients: Pick<TokenClients, "exchange">;
}): StateSync {
  let times = 0;
  let lastConfig = config();
  let isFailing = false;
  return {
    confirmedConfig: () => (isFailing ? lastConfig : config()),
    async sync() {
      const readsClients = times % CLIENTS_EVERY === 0;
      times += 1;
      isFailing = true;
      if (readsClients) await tokenClients.exchange();
      await returns.tick();
      isFailing = false;
      lastConfig = config();
    },
  };
}
