/** Decides which service serves a request: the old service, or the rest of the public application. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { addressNetwork, CLIENT_GONE, type Settings } from "../../base/index.ts";
import {
  type AlphaRequest,
  createLegacyForward,
  createSenderReader,
  createSignInReader,
  cursorParameters,
  type ForwardedExchange,
  type ForwardObserver,
  hasBody,
  type KnownSenders,
  type LegacyForwardParts,
  type LegacyService,
  type Middleware,
  type OAuthServices,
  onlyReads,
  PACK_HEADER,
  passOn,
  plainRequestOf,
  type Recorder,
  removeCursorMark,
  replacePlainRequest,
  type RequestSender,
  findRoute,
  trustedProxies,
} from "../../gateway/index.ts";
import type { Route } from "../../pack/index.ts";
import { MAX_COMPARED_BYTES, overridesMethod, type Shadow } from "../../compare/index.ts";
import type { Rollout } from "./sides.ts";

/** Calls a function when a response has ended, or its client has disconnected, even if that has already happened. */
function onceClosed(response: ServerResponse, listener: () => void): void {
  if (response.closed) listener();
  else response.once("close", listener);
}

/** Whether the old service has failed; undefined if it did not receive the request, or if the client has disconnected. */
function hasOldFailed({ status, forwarded }: ForwardedExchange): boolean | undefined {
  const { upstreamStatus, isComplete } = forwarded;
  if (upstreamStatus === undefined || status === CLIENT_GONE) return undefined;
  return upstreamStatus === null || upstreamStatus >= 500 || !isComplete;
}

/**
 * Returns the sender whose writes keep a request on its side. Without credentials, any client can send any user agent,
 * so the network is used.
 */
function writerOf(
  { identity, hash }: RequestSender,
  known: string | undefined,
  address: string,
): string | undefined {
  const isProven = known === undefined || hash !== undefined || known === identity.label;
  return isProven ? known : addressNetwork(address);
}

/** The request with the host that its client used. Other host headers are only used if they come from trusted proxies. */
function withProvenHost(plain: AlphaRequest, isFromProxy: boolean): AlphaRequest {
  const { "x-forwarded-host": claimed, ...headers } = plain.headers;
  return claimed === undefined || isFromProxy ? plain : { ...plain, headers };
}

/** A request that the old service serves. */
interface OldRequest {
  readonly request: IncomingMessage;
  readonly sender: RequestSender;
  readonly route: Route | undefined;
  /** Returns the proven sender; undefined: an unknown sender. */
  readonly provenClient: () => string | undefined;
  /** The comparison of the request. */
  readonly begun: ReturnType<Shadow["begin"]>;
}

/** Creates the function that records the old service's response to a request. */
function observeOld(
  { request, sender, route, provenClient, begun }: OldRequest,
  rollout: Rollout,
  senders: KnownSenders,
): ForwardObserver {
  const name = route?.name ?? null;
  // A client that has not finished its request does not wait for the old service.
  const waitingClient = () => (request.complete ? provenClient() : undefined);
  let endWait = (): void => {};
  return {
    // A client without a token is not known: it shares the connections of its network.
    isKnown: () => sender.hash !== undefined && provenClient() !== undefined,
    bodyLimit: begun?.isCompared ? MAX_COMPARED_BYTES : 0,
    onSent() {
      endWait();
      endWait = rollout.beginOld(name, waitingClient);
    },
    onHead: () => endWait(),
    onEnd(exchange) {
      endWait();
      const { upstreamStatus } = exchange.forwarded;
      if (typeof upstreamStatus === "number") senders.noteOldAnswer(sender, route, upstreamStatus);
      const hasFailed = hasOldFailed(exchange);
      const proven = provenClient();
      if (hasFailed !== undefined && proven !== undefined) rollout.noteOld(name, hasFailed, proven);
      begun?.servedOld(exchange);
    },
  };
}

/** The services that the middleware needs. */
interface RolloutParts extends LegacyForwardParts {
  readonly legacy: LegacyService | undefined;
  readonly oauth: Pick<OAuthServices, "login" | "gatewayTokens" | "tokenStore">;
  readonly rollout: Rollout | undefined;
}

/**
 * Creates the middleware. Sign-ins are decided by the application that they name; a token is revoked by the side that
 * issued it.
 *
 * @returns undefined if there is no roll-out
 */
export function createRolloutMiddleware(
  settings: Settings,
  dependencies: RolloutParts,
  recorder: Recorder,
  { senders, shadow }: { readonly senders: KnownSenders | undefined; readonly shadow: Shadow | undefined },
): Middleware {
  const { pack, legacy, oauth, rollout } = dependencies;
  if (!rollout || !legacy || !senders) return passOn;
  const forward = createLegacyForward(settings, legacy, dependencies, recorder);
  const readSignIn = createSignInReader(oauth.login && pack.dialect.oauth);
  const readSender = createSenderReader(dependencies);
  const parameters = cursorParameters(pack);
  const isFromProxy = trustedProxies(settings.TRUST_PROXY ?? []);

  return async function routeBySide(request, response, next) {
    const plain = plainRequestOf(response);
    const signIn = await readSignIn(request, plain);
    const sender: RequestSender = signIn
      ? {
          identity: { label: plain.label, application: signIn.application },
          hash: undefined,
          hasGatewayToken: signIn.token !== undefined && oauth.gatewayTokens.isGatewayToken(signIn.token),
        }
      : await readSender(plain);
    const { identity, token, hasGatewayToken } = sender;
    const route = findRoute(plain, pack);
    const name = route?.name ?? null;
    const { query, cursor: given } = removeCursorMark(plain.query, parameters);
    const isRead = onlyReads(plain, route);
    // A write is decided by the rules: its client must not choose the side that stores it.
    const cursor = isRead ? given : undefined;
    const knownAs = (): string | undefined => senders.knownAs(sender);
    const provenBy = (): string | undefined => senders.provenBy(sender, plain.address);
    const findWriter = (): string | undefined => writerOf(sender, knownAs(), plain.address);
    const { side, client } = rollout.sideOf(identity, name, { cursor, hasGatewayToken, findWriter });
    const fingerprint = identity.fingerprint ?? undefined;
    // The translation uses the method that is sent.
    const isWrite = !signIn && (!isRead || (side === "old" && overridesMethod(plain)));
    const write = isWrite ? rollout.beginWrite({ client, findWriter }, side) : undefined;
    if (write) onceClosed(response, write.end);
    const served = query === plain.query ? plain : { ...plain, query };
    const begun = signIn
      ? undefined
      : shadow?.begin({
          plain: withProvenHost(side === "old" ? plain : served, isFromProxy(request)),
          hasBody: hasBody(request),
          route,
          side,
          client,
          fingerprint,
          token,
          hasGatewayToken,
          knownAs,
          provenBy,
          onWritten: write?.accept,
        });
    if (begun) onceClosed(response, begun.end);
    // The client has disconnected in the meantime: its request is not forwarded.
    if (response.closed) return;
    if (side === "old") {
      // No pack has handled the request.
      response.removeHeader(PACK_HEADER);
      // A sign-in names an application without proving it.
      const provenClient = () => (signIn ? undefined : provenBy());
      const observer = observeOld({ request, sender, route, provenClient, begun }, rollout, senders);
      return forward(request, response, plain, observer);
    }
    if (served !== plain) replacePlainRequest(response, served);
    next();
  };
}
