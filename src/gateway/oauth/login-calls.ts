/** The calls of the client's API to the login server, with their methods. */
import type { OAuthDefinition } from "../../pack/index.ts";

/** They sign users in: windows and the end of the plan stop them. */
export const SIGN_INS = { authorize: "GET", token: "POST" } as const;

/** They sign users out: no stage of the plan stops them. */
export const SIGN_OUTS = { revoke: "POST", logout: "GET" } as const;

/** The names of the routes that sign users out. */
export const signOutRoutes = (definition: OAuthDefinition): readonly string[] =>
  (["revoke", "logout"] as const).map((call) => `${SIGN_OUTS[call]} ${definition[call].client}`);
