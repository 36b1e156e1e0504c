/** Decides which side serves a request: the old service, or what follows in the public application. */
import type { RequestHandler } from "express";
import { CLIENT_GONE } from "../audit/record.ts";
import { fingerprint, tokenHash } from "../auth/token-cache.ts";
import type { ClientIdentity } from "../clients/client-directory.ts";
import type { Settings } from "../config/setting-definitions.ts";
import type { AlphaRequest } from "../pipeline/context.ts";
import { plainRequestOf, replacePlainRequest } from "../pipeline/http/request-context.ts";
import type { LegacyExchange } from "../pipeline/native/legacy-proxy.ts";
import { findIssuer } from "../pipeline/stages/enforce-plan.ts";
import { cursorParameters, removeCursorMark } from "../rollout/cursor-mark.ts";
import type { Rollout } from "../rollout/rollout.ts";
import { createLegacyForward, routeNameOf } from "./legacy.ts";
import type { PublicAppDependencies } from "./public-app.ts";
import type { Recorder } from "./recorder.ts";
import { createSignInReader } from "./sign-in.ts";

/** Methods that change nothing. */
const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Who sent a request, and whether the old service can't know its token. */
interface Sender {
  readonly identity: ClientIdentity;
  readonly hasGatewayToken: boolean;
}

/** Notes how the old service did. Requests that it did not get say nothing. */
function noteOldOutcome(
  rollout: Rollout,
  route: string | null,
  { id }: AlphaRequest,
  { outcome: { status, v4Status, isComplete } }: LegacyExchange,
): void {
  if (v4Status === undefined || status === CLIENT_GONE) return;
  rollout.noteOutcome(route, "old", v4Status === null || v4Status >= 500 || isComplete === false, id);
}

/** Reads who sent a request to the API. The application is known of tokens that the gateway issued. */
function createSenderReader({
  pack,
  oauth,
}: PublicAppDependencies): (plain: AlphaRequest) => Sender | Promise<Sender> {
  const { client } = pack.credentials;
  return function readSender(plain) {
    const found = client?.read(plain);
    const token = found && "token" in found ? found.token : undefined;
    const hash = token === undefined ? undefined : tokenHash(token);
    const identity = {
      label: plain.label,
      fingerprint: hash === undefined ? undefined : fingerprint(hash),
      userAgent: plain.headers["user-agent"]?.[0],
    };
    if (token === undefined || !oauth.gatewayTokens.isGatewayToken(token))
      return { identity, hasGatewayToken: false };
    return findIssuer({ token, hash }, oauth.tokenStore).then((application) => ({
      identity: { ...identity, application: application?.id },
      hasGatewayToken: true,
    }));
  };
}

/**
 * Creates the middleware. Sign-ins go by the application that they name; a token is revoked where it was issued.
 *
 * @returns undefined without a rollout
 */
export function createRolloutMiddleware(
  settings: Settings,
  dependencies: PublicAppDependencies,
  recorder: Recorder,
): RequestHandler | undefined {
  const { pack, legacy, oauth } = dependencies;
  const { rollout } = dependencies.rollout;
  if (!rollout || !legacy) return undefined;
  const forward = createLegacyForward(settings, legacy, dependencies, recorder);
  const readSignIn = createSignInReader(oauth.login && pack.dialect.oauth);
  const readSender = createSenderReader(dependencies);
  const parameters = cursorParameters(pack);

  return async function routeBySide(request, response, next) {
    const plain = plainRequestOf(response);
    const signIn = await readSignIn(request, plain);
    const { identity, hasGatewayToken } = signIn
      ? {
          identity: { label: plain.label, application: signIn.application },
          hasGatewayToken: signIn.token !== undefined && oauth.gatewayTokens.isGatewayToken(signIn.token),
        }
      : await readSender(plain);
    const route = routeNameOf(plain, pack);
    const { query, cursor } = removeCursorMark(plain.query, parameters);
    const { side, client } = rollout.sideOf(identity, route, { cursor, hasGatewayToken });
    if (!signIn && !READS.has(plain.method)) {
      const write = rollout.beginWrite(client, side);
      if (write) response.on("close", write.end);
      await write?.ready;
    }
    if (side === "old")
      return forward(request, response, plain, {
        bodyLimit: 0,
        onEnd: (exchange) => noteOldOutcome(rollout, route, plain, exchange),
      });
    if (query !== plain.query) replacePlainRequest(response, { ...plain, query });
    next();
  };
}
