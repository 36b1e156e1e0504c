/** Compares the old service and the translation on live requests, by `ROLLOUT_FILE`. */
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
} from "../../gateway/index.ts";
import type { Route } from "../../pack/index.ts";
import type { WriteFence } from "./write-fence.ts";
import { BUCKETS, type ClientDirectory, hasName, lastingName, UNNAMED } from "../../audit/index.ts";
import { createJudge } from "../answers/judge.ts";
import type { Exchange } from "../answers/second-answer.ts";
import {
  answerOf,
  createOldAnswer,
  hasOldWritten,
  overridesMethod,
  type ServedRequest,
  translatedAnswer,
  wholeBody,
} from "./served-request.ts";
import { ShadowRunner, WITHOUT_BODY } from "./shadow-runner.ts";
import type { OpenShadow } from "./shadow-feature.ts";
import { createShadowTranslation, type ShadowTranslationParts } from "./shadow-translation.ts";

/** The parts of a gateway that comparisons need. */
interface ShadowParts extends ShadowTranslationParts {
  readonly oauth: Pick<OAuthServices, "tokenStore" | "gatewayTokens">;
  readonly clients: { current(): ClientDirectory };
  /** True for the candidate, which only testers reach: its results don't count for the active pack. */
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
  /** The sender, as far as it is known by now: see `KnownSenders`. */
  readonly knownAs: () => string | undefined;
  /** The same, where clients are counted. */
  readonly provenBy: () => string | undefined;
  /** Called once a service has done its write, or may have. */
  readonly onWritten: (() => void) | undefined;
}

/** The comparisons of a pack. */
export type Shadow = ReturnType<typeof createShadow>;

/** The functions with which a request takes part in comparisons. */
export interface Begun {
  /** Takes the answer of the old service to the client, and whether it has written. */
  servedOld(exchange: ForwardedExchange): void;
  /** Ends a write. */
  end(): void;
  /** Whether the answer is needed. */
  readonly isCompared: boolean;
}

/** Whose budget senders share that nobody knows: invented tokens have no budget of their own. */
const STRANGERS = UNNAMED;

/** The known facts about a sender. */
type KnownSender = Pick<RoutedRequest, "client" | "fingerprint" | "knownAs">;

/**
 * All that the writes and reads of a sender are known by. Its user agent is not among it: others could have it, and end
 * its comparisons.
 */
function namesOf({ client, fingerprint, knownAs }: KnownSender): readonly string[] {
  const application = client !== undefined && !hasName(client) ? client : undefined;
  const names = [knownAs(), application, fingerprint].filter((each) => each !== undefined);
  return names.length === 0 ? [STRANGERS] : [...new Set(names)];
}

/** The name of a sender. Undefined without a name, and for a stranger. */
const provenName = ({ fingerprint, knownAs }: KnownSender): string | undefined =>
  [fingerprint, UNNAMED].includes(knownAs()) ? undefined : knownAs();

/**
 * The client to whose share the comparisons of a request count: a sender with a proven name, else a network, because
 * anybody can get many tokens. If clients may share an address, it is the client's name in commands.
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
    answers: { old: createOldAnswer(old, sides), new: createShadowTranslation(settings, dependencies) },
    report,
    closing,
    onError: (error, requestId) =>
      log.error(
        { code: "AG_COMPARISON_FAILED", requestId, error: errorText(error) },
        "the old service and the translation could not be compared",
      ),
  });
}

/** Comparisons that wait for answers of the translation. A request is copied on its way, but its signal is not. */
type Waiting = WeakMap<AlphaRequest["signal"], (exchange: Exchange) => void>;

/** Creates the function that starts comparisons of reads. */
function createBeginRead(
  runner: ShadowRunner,
  { sides }: Pick<OpenShadow, "sides">,
  {
    filterHeader,
    areAddressesShared,
    waiting,
  }: {
    readonly filterHeader: string | undefined;
    readonly areAddressesShared: boolean;
    readonly waiting: Waiting;
  },
): (route: Route, routed: RoutedRequest) => Begun | undefined {
  function servedOf(route: Route, routed: RoutedRequest): ServedRequest {
    const { plain, side, client, fingerprint, token, hasGatewayToken } = routed;
    return {
      request: plain,
      route,
      filter: (filterHeader === undefined ? undefined : header(plain, filterHeader)) ?? null,
      client: client ?? fingerprint ?? null,
      writers: namesOf(routed),
      payer: payerOf(routed, areAddressesShared),
      provenBy: routed.provenBy,
      token,
      side,
      isFresh: side === "new" && sides.isFresh(client, route.name),
      obstacle: hasGatewayToken ? "token" : undefined,
    };
  }

  return (route, routed) => {
    if (route.file || route.upload || sides.config().compare.skippedRoutes.has(route.name)) return undefined;
    const comparison = runner.begin(servedOf(route, routed));
    if (!comparison) return undefined;
    if (routed.side === "new")
      waiting.set(routed.plain.signal, (exchange) =>
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
  };
}

/** Creates the function that records writes, which void comparisons. */
const createBeginWrite =
  ({ fence }: Pick<OpenShadow, "fence">, waiting: Waiting) =>
  (routed: RoutedRequest): Begun => {
    const { plain, side, knownAs, onWritten } = routed;
    // Anybody can have the user agent of a client. A stranger's write concerns that client once a service has accepted its token.
    const wasKnown = knownAs() !== undefined;
    const owner = provenBy(provenName(routed), undefined, plain.address);
    const endWrite = fence.begin(namesOf(routed), owner);
    function settle(isWritten: boolean): void {
      if (!isWritten) return;
      onWritten?.();
      if (!wasKnown && knownAs() !== undefined) fence.begin(namesOf(routed), owner)();
    }
    if (side === "new")
      waiting.set(plain.signal, ({ context: { upstream } }) =>
        settle(upstream !== undefined && hasWritten(upstream)),
      );
    return { isCompared: false, end: endWrite, servedOld: (exchange) => settle(hasOldWritten(exchange)) };
  };

/**
 * Creates the function that records native writes. The application of a token that the gateway has issued is known a
 * moment later.
 */
function createBeginNative(
  fence: WriteFence,
  { clients, oauth }: Pick<ShadowParts, "clients" | "oauth">,
): (plain: AlphaRequest) => () => void {
  return (plain) => {
    const token = nativeToken(plain);
    const hash = tokenHash(token);
    const owner = provenBy(undefined, undefined, plain.address);
    const begin = (application: string | undefined): (() => void) => {
      const identity = { label: plain.label, fingerprint: fingerprint(hash), application };
      const client = lastingName(clients.current(), identity);
      return fence.begin(
        [...new Set([client, identity.fingerprint])].filter((each) => each !== undefined),
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
  };
}

/** Creates the comparisons of the active pack. */
export function createShadow(settings: Settings, dependencies: ShadowParts, service: OpenShadow) {
  const { pack, isForTesters } = dependencies;
  const filterHeader = pack.dialect.client.filters?.header?.toLowerCase();
  const waiting: Waiting = new WeakMap();
  const runner = createRunner(settings, dependencies, service);
  const beginRead = createBeginRead(runner, service, {
    filterHeader,
    areAddressesShared: mayShareAddresses(settings),
    waiting,
  });
  const beginWrite = createBeginWrite(service, waiting);

  return {
    /** Begins to compare a request, where it is compared. Notes it where it is a write. */
    begin(routed: RoutedRequest): Begun | undefined {
      const { route, plain } = routed;
      if (plain.method === "OPTIONS") return undefined;
      if (!onlyReads(plain, route) || overridesMethod(plain)) return beginWrite(routed);
      // The body of a GET is not sent again: without it the request would be another one.
      if (!route || isForTesters || (WITHOUT_BODY.has(plain.method) && routed.hasBody)) return undefined;
      return beginRead(route, routed);
    },
    /**
     * Records a write that is forwarded to v4 unchanged. The client may read the same object through the client's
     * API, with this token or another one.
     *
     * @returns a function to call once, when the write ends
     */
    beginNative: createBeginNative(service.fence, dependencies),
    /** Takes the answer of the translation to a client, once it was sent, and whether it has written. */
    servedNew(exchange: Exchange): void {
      const { signal } = exchange.request;
      waiting.get(signal)?.(exchange);
      waiting.delete(signal);
    },
  };
}
