/** Compares the old service and the translation for live requests, as `ROLLOUT_FILE` defines. */
import { addressNetwork, errorText, mayShareAddresses, type Settings } from "../../base/index.ts";
import {
  type AlphaRequest,
  findIssuer,
  fingerprint,
  hasWritten,
  header,
  type ForwardedExchange,
  nativeToken,
  type OAuthServices,
  onlyReads,
  provenBy,
  tokenHash,
  READ_METHODS,
} from "../../gateway/index.ts";
import type { Route } from "../../pack/index.ts";
import { BUCKETS, type ClientDirectory, hasName, lastingName, UNNAMED } from "../../audit/index.ts";
import { createJudge } from "../answers/judge.ts";
import type { Exchange } from "../answers/comparison.ts";
import { answerOf, hasOldWritten, overridesMethod, translatedAnswer, wholeBody } from "./served-request.ts";
import { ShadowRunner } from "./shadow-runner.ts";
import type { OpenShadow } from "./shadow-feature.ts";
import { createShadowTranslation, type ShadowTranslationParts } from "./shadow-translation.ts";

/** The parts of a gateway that comparisons need. */
interface ShadowParts extends ShadowTranslationParts {
  readonly oauth: Pick<OAuthServices, "tokenStore" | "gatewayTokens">;
  readonly clients: { current(): ClientDirectory };
  /** True for the candidate, which only testers use: its results are not counted for the active pack. */
  readonly isForTesters: boolean;
}

/** A request of the client's API that one side serves. */
export interface RoutedRequest {
  readonly plain: AlphaRequest;
  readonly hasBody: boolean;
  readonly route: Route | undefined;
  readonly side: "old" | "new";
  /** The sender's name in commands. Undefined if it is unknown. */
  readonly client: string | undefined;
  readonly fingerprint: string | undefined;
  readonly token: string | undefined;
  readonly hasGatewayToken: boolean;
  /** Returns the sender, with the current knowledge: see `KnownSenders`. */
  readonly knownAs: () => string | undefined;
  /** Returns the sender for counting clients, with the current knowledge. */
  readonly provenBy: () => string | undefined;
  /** Called after a service has executed its write, or may have. */
  readonly onWritten: (() => void) | undefined;
}

/** The functions with which a request takes part in comparisons. */
interface Begun {
  /** Receives the old service's response to the client, and records whether it has written. */
  servedOld(exchange: ForwardedExchange): void;
  /** Ends a write. */
  end(): void;
  /** Whether the answer is needed. */
  readonly isCompared: boolean;
}

/** The common budget of unknown senders: invented tokens have no budget of their own. */
const STRANGERS = UNNAMED;

/** The known facts about a sender. */
type KnownSender = Pick<RoutedRequest, "client" | "fingerprint" | "knownAs">;

/**
 * Returns all names by which the writes and reads of a sender are recognized. The user agent is not included: other
 * clients could use it, and invalidate its comparisons.
 */
function namesOfSender({ client, fingerprint, knownAs }: KnownSender): readonly string[] {
  const application = client !== undefined && !hasName(client) ? client : undefined;
  const names = [knownAs(), application, fingerprint].filter((each) => each !== undefined);
  return names.length === 0 ? [STRANGERS] : [...new Set(names)];
}

/** Returns the proven name of a sender. Undefined if not found, and for an unknown sender. */
const provenName = ({ fingerprint, knownAs }: KnownSender): string | undefined =>
  [fingerprint, UNNAMED].includes(knownAs()) ? undefined : knownAs();

/**
 * Returns the client whose share the comparisons of a request use: a sender with a proven name, otherwise a network,
 * because any client can get many tokens. If clients may share an address, it is the client's name in commands.
 */
function payerOf(routed: RoutedRequest, areAddressesShared: boolean): string {
  if (routed.knownAs() === undefined) return STRANGERS;
  const { client, fingerprint, plain } = routed;
  const unproven = areAddressesShared ? (client ?? fingerprint ?? STRANGERS) : addressNetwork(plain.address);
  return provenName(routed) ?? unproven;
}

/** Creates the runner for comparisons of the active pack. */
function createRunner(
  settings: Settings,
  dependencies: ShadowParts,
  { sides, old, budget, fence, volatile, report, closing }: OpenShadow,
): ShadowRunner {
  const { pack, log } = dependencies;
  return new ShadowRunner({
    share: () => {
      const { share } = sides.config().compare;
      return share === 0 ? undefined : share / BUCKETS;
    },
    judge: createJudge(pack, volatile),
    subject: () => `${pack.hash} ${sides.config().data.kind}`,
    budget,
    fence,
    answers: { old, new: createShadowTranslation(settings, dependencies) },
    report,
    closing,
    onError: (error, requestId) =>
      log.error(
        { code: "AG_COMPARISON_FAILED", requestId, error: errorText(error) },
        "the old service and the translation could not be compared",
      ),
  });
}

/** The comparisons of the active pack. */
export class Shadow {
  readonly #runner: ShadowRunner;
  readonly #service: OpenShadow;
  readonly #parts: ShadowParts;
  readonly #filterHeader: string | undefined;
  readonly #areAddressesShared: boolean;
  /** Callbacks for responses of the translation. A request is copied by the pipeline, but its signal is not. */
  readonly #waiting = new WeakMap<AlphaRequest["signal"], (exchange: Exchange) => void>();

  constructor(settings: Settings, parts: ShadowParts, service: OpenShadow) {
    this.#runner = createRunner(settings, parts, service);
    this.#service = service;
    this.#parts = parts;
    this.#filterHeader = parts.pack.dialect.client.filters?.header?.toLowerCase();
    this.#areAddressesShared = mayShareAddresses(settings);
  }

  /** Starts to compare a request, if it is selected. Records it if it is a write. */
  begin(routed: RoutedRequest): Begun | undefined {
    const { route, plain, hasBody } = routed;
    if (plain.method === "OPTIONS") return undefined;
    if (!onlyReads(plain, route) || overridesMethod(plain)) return this.#beginWrite(routed);
    // The body of a GET is not sent again: without it, the request would be different.
    if (!route || this.#parts.isForTesters || (READ_METHODS.has(plain.method) && hasBody)) return undefined;
    if (route.comparison.obstacle === "file") return undefined;
    return this.#service.sides.config().compare.skippedRoutes.has(route.name)
      ? undefined
      : this.#beginRead(route, routed);
  }

  /**
   * Records a write that is forwarded to v4 unchanged. The client may read the same object through the client's API,
   * with this token or a different one. The application of a token that the gateway issued becomes known later.
   *
   * @returns a function to call once, when the write ends
   */
  beginNative(plain: AlphaRequest): () => void {
    const { clients, oauth } = this.#parts;
    const token = nativeToken(plain);
    const hash = tokenHash(token);
    const owner = provenBy(undefined, undefined, plain.address);
    const begin = (application: string | undefined): (() => void) => {
      const identity = { label: plain.label, fingerprint: fingerprint(hash), application };
      const names = new Set([lastingName(clients.current(), identity), identity.fingerprint]);
      return this.#service.fence.begin(
        [...names].filter((each) => each !== undefined),
        owner,
      );
    };
    const ends = [begin(undefined)];
    let hasEnded = false;
    async function beginForApplication(): Promise<void> {
      const issuer = await findIssuer({ token, hash }, oauth.tokenStore);
      if (typeof issuer !== "object") return;
      const end = begin(issuer.id);
      if (hasEnded) end();
      else ends.push(end);
    }
    if (oauth.gatewayTokens.isGatewayToken(token)) void beginForApplication();
    return () => {
      hasEnded = true;
      for (const end of ends) end();
    };
  }

  /** Receives the translation's response to a client after it was sent, and records whether it has written. */
  readonly servedNew = (exchange: Exchange): void => {
    const { signal } = exchange.request;
    this.#waiting.get(signal)?.(exchange);
    this.#waiting.delete(signal);
  };

  /** Starts the comparison of a read. */
  #beginRead(route: Route, routed: RoutedRequest): Begun | undefined {
    const { plain, side, client, hasGatewayToken, token } = routed;
    const comparison = this.#runner.begin({
      request: plain,
      route,
      filter: (this.#filterHeader === undefined ? undefined : header(plain, this.#filterHeader)) ?? null,
      client: client ?? routed.fingerprint ?? null,
      writers: namesOfSender(routed),
      payer: payerOf(routed, this.#areAddressesShared),
      provenBy: routed.provenBy,
      token,
      side,
      isFresh: side === "new" && this.#service.sides.isFresh(client, route.name),
      obstacle: hasGatewayToken ? "token" : undefined,
    });
    if (!comparison) return undefined;
    if (side === "new")
      this.#waiting.set(plain.signal, (exchange) =>
        comparison.served(translatedAnswer(exchange), exchange.context.body?.bytes),
      );
    return {
      isCompared: true,
      end: () => {},
      servedOld: (exchange) =>
        void Promise.all([answerOf(exchange), wholeBody(exchange.forwarded.sent)]).then(
          ([answer, body]) => comparison.served(answer, body),
          () => comparison.served("unreadable"),
        ),
    };
  }

  /** Records a write, which invalidates comparisons. */
  #beginWrite(routed: RoutedRequest): Begun {
    const { fence } = this.#service;
    const { plain, side, knownAs, onWritten } = routed;
    // Any client can send the user agent of another client. A write of an unknown sender affects that client only after
    // a service has accepted its token.
    const wasKnown = knownAs() !== undefined;
    const owner = provenBy(provenName(routed), undefined, plain.address);
    const end = fence.begin(namesOfSender(routed), owner);
    function settle(isWritten: boolean): void {
      if (!isWritten) return;
      onWritten?.();
      if (!wasKnown && knownAs() !== undefined) fence.begin(namesOfSender(routed), owner)();
    }
    if (side === "new")
      this.#waiting.set(plain.signal, ({ context: { upstream } }) =>
        settle(upstream !== undefined && hasWritten(upstream)),
      );
    return { isCompared: false, end, servedOld: (exchange) => settle(hasOldWritten(exchange)) };
  }
}
