import type { ClientIdentity } from "../clients/client-directory.ts";
import { fingerprint } from "../auth/token-cache.ts";
import { header, type AlphaRequest } from "./context.ts";

/** What a request says about its sender. @param hash of its token */
export const identityOf = (request: AlphaRequest, hash: string | undefined): ClientIdentity => ({
  fingerprint: hash === undefined ? undefined : fingerprint(hash),
  userAgent: header(request, "user-agent"),
});
