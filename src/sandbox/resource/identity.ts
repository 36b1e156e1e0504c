/** Whose token it is (document 1, Authentication). A token belongs to a user, and lets that user do what its scopes say. */

import type { Caller } from "../http/caller.ts";
import type { Access, Grants } from "../resources/hidden.ts";
import type { World } from "../store/world.ts";
import { homeOfUser } from "./locate.ts";

/** Undefined for a token that is unknown, has expired, or whose user is gone. */
export function callerOfToken(world: World, secret: string): Caller | undefined {
  const access = world.table("access").get(secret)?.value;
  if (!access || (access.expires !== null && access.expires <= world.clock.now())) return undefined;
  const user = world.table("user").get(access.user);
  if (!user) return undefined;
  const restricted = user.value.restricted;
  return {
    account: user.home,
    user: access.user,
    scopes: access.scopes,
    ...(restricted && { grants: ((user.hidden ??= {}).grants ??= noGrants()) }),
  };
}

export function noGrants(): Grants {
  return { global: {}, entities: {} };
}

/** Makes a token work: a personal one, or one that the login server issued to a client. */
export function giveAccess(world: World, secret: string, access: Access): void {
  world.table("access").add(homeOfUser(access.user), secret, access);
}

/** Ends every token that fits, those that renew one among them. */
export function revoke(world: World, fits: (access: Access) => boolean): void {
  for (const table of [world.table("access"), world.table("refresh")]) {
    for (const { id, value } of table.all()) if (fits(value)) table.remove(id);
  }
}
