/** Whose token it is (document 1, Authentication). A token belongs to a user, and lets that user do what its scopes say. */

import type { Caller } from "../http/caller.ts";
import type { Access, Grants } from "../resources/hidden.ts";
import type { Store } from "../store/store.ts";
import { userHome } from "./locate.ts";

/** Undefined for a token that is unknown, has expired, or whose user is gone. */
export function findCallerByToken(store: Store, secret: string): Caller | undefined {
  const access = store.table("access").get(secret)?.value;
  if (!access || (access.expires !== null && access.expires <= store.clock.now())) return undefined;
  const user = store.table("user").get(access.user);
  if (!user) return undefined;
  const restricted = user.value.restricted;
  return {
    account: user.home,
    user: access.user,
    scopes: access.scopes,
    ...(restricted && { grants: ((user.hidden ??= {}).grants ??= emptyGrants()) }),
  };
}

export function emptyGrants(): Grants {
  return { global: {}, entities: {} };
}

/** Makes a token work: a personal one, or one that the login server issued to a client. */
export function storeAccessToken(store: Store, secret: string, access: Access): void {
  store.table("access").add(userHome(access.user), secret, access);
}

/** Ends every token that fits, those that renew one among them. */
export function revokeTokens(store: Store, fits: (access: Access) => boolean): void {
  for (const table of [store.table("access"), store.table("refresh")]) {
    for (const { id, value } of table.all()) if (fits(value)) table.remove(id);
  }
}
