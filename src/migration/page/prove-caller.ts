/** The reader of the page: the holder of a token that v4 accepts, or an application whose secret the login server accepts. */
import type { Pack } from "../../pack/index.ts";
import {
  type ApplicationCredentials,
  createUpstreamActivity,
  type LoginServer,
  type ProofDependencies,
  type ProvenToken,
  type RequestContext,
} from "../../gateway/index.ts";

/** The caller whose calls the page shows. */
export type Caller =
  | ({ readonly kind: "token" } & ProvenToken)
  | { readonly kind: "application"; readonly application: string };

export interface CallerDependencies extends ProofDependencies {
  readonly pack: Pack;
  /** Undefined without a login server: then applications can't read their page. */
  readonly login: LoginServer | undefined;
}

/** Proves an application by its id and its secret. @returns undefined if the login server does not accept them */
export async function proveApplication(
  credentials: ApplicationCredentials,
  context: RequestContext,
  login: LoginServer,
): Promise<Caller | undefined> {
  const { client, secret } = credentials;
  if (client === "" || secret === "") return undefined;
  const activity = createUpstreamActivity(context.warnings, context.span?.call);
  context.upstream = activity;
  if (!(await login.authenticate(credentials, activity))) return undefined;
  context.application = { id: client, isProven: true };
  return { kind: "application", application: client };
}
