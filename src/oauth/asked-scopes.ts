import type { Grants, Scopes } from "../dialect/scopes.ts";
import type { KeyedStore } from "../shared-state/keyed-store.ts";

/**
 * What clients asked for when they sent their users to sign in. An exchange carries nothing but the client's id,
 * so that what it is for is what that client asked within the last hour, all together (contract).
 */
export interface AskedScopes {
  remember(client: string, asked: Grants): Promise<void>;
  /** Undefined where the client was not seen. */
  of(client: string): Promise<Grants | undefined>;
}

const REMEMBERED_SECONDS = 3600;

/** One member for each scope, so that a set can't grow beyond what the pack has resources and levels; "" is "none". */
export function createAskedScopes(store: KeyedStore, scopes: Scopes): AskedScopes {
  const keyOf = (client: string): string => `asked:${client}`;
  return {
    async remember(client, asked) {
      for (const scope of scopes.write(asked).split(",")) {
        await store.addTo(keyOf(client), scope, REMEMBERED_SECONDS);
      }
    },
    async of(client) {
      const members = await store.membersOf(keyOf(client));
      return members.length === 0 ? undefined : scopes.read(members.join(",")).grants;
    },
  };
}
