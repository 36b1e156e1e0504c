/** Compares the old service and the translation on live requests, by `ROLLOUT_FILE`. */
import { CLIENT_GONE } from "../audit/record.ts";
import { errorText } from "../config/error-text.ts";
import type { Settings } from "../config/setting-definitions.ts";
import type { Route } from "../mapping/compile/route.ts";
import type { Log } from "../observability/log.ts";
import type { ReportComparison } from "../parity/comparison.ts";
import { VolatileFields } from "../parity/volatile-fields.ts";
import { header, type AlphaRequest } from "../pipeline/context.ts";
import type { LegacyExchange } from "../pipeline/native/legacy-proxy.ts";
import type { BodyStart } from "../pipeline/native/legacy-record.ts";
import type { AcceptedTokens } from "../auth/accepted-tokens.ts";
import { createTokensOfOldService } from "../rollout/known-senders.ts";
import { UNNAMED, type Rollout } from "../rollout/rollout.ts";
import { BUCKETS } from "../rollout/rollout-plan.ts";
import { MAX_COMPARED_BYTES, OldService, textHeaders, type Asked } from "../shadow/ask-old-service.ts";
import { Budget } from "../shadow/budget.ts";
import { DivergedClients } from "../shadow/diverged-clients.ts";
import { createJudge } from "../shadow/judge.ts";
import { overridesMethod } from "../shadow/method-override.ts";
import {
  READS,
  ShadowRunner,
  type BegunComparison,
  type ServedRequest,
  type ShadowOptions,
} from "../shadow/shadow-runner.ts";
import { WriteFence } from "../shadow/write-fence.ts";
import type { KeyValueStore } from "../storage/key-value-store.ts";
import type { Exchange } from "./candidate/translate-again.ts";
import type { LegacyService } from "./legacy.ts";
import type { PublicAppDependencies } from "./public-app.ts";
import { createShadowTranslation } from "./shadow-translation.ts";

/** What comparisons share, whichever pack is active. */
export interface ShadowService {
  readonly rollout: Rollout;
  readonly old: OldService;
  readonly budget: Budget;
  readonly fence: WriteFence;
  readonly diverged: DivergedClients;
  /** What is known of the old service. */
  readonly volatile: VolatileFields;
  readonly report: ShadowOptions["report"];
  /** Tokens that the old service has accepted. */
  readonly acceptedTokens: AcceptedTokens;
  /** Fires when the gateway stops. */
  readonly closing: AbortSignal;
  close(): Promise<void>;
}

/** Pause between two looks at what other replicas know of diverged clients. */
const REFRESH_MS = 2000;

/** Opens what comparisons need; undefined without a rollout. */
export function openShadow(
  { RATE_LIMIT, UPSTREAM_TIMEOUT_MS: timeoutMs }: Settings,
  {
    rollout,
    legacy,
    state,
    report,
    tokenParameter,
    log,
  }: {
    readonly rollout: Rollout | undefined;
    readonly legacy: LegacyService | undefined;
    readonly state: KeyValueStore;
    readonly report: ReportComparison;
    /** The query parameter with the token, where the pack has it there. */
    readonly tokenParameter: string | undefined;
    readonly log: Log;
  },
): ShadowService | undefined {
  if (!rollout || !legacy) return undefined;
  const budget = new Budget(() => {
    const { perSecond, memoryBytes: memory, clientShare } = rollout.plan().compare;
    const perClient = Math.max(1, Math.floor(RATE_LIMIT.points * clientShare));
    return { perSecond, perClient, clientSeconds: RATE_LIMIT.seconds, memory };
  });
  const fence = new WriteFence(() => {
    const { data } = rollout.plan();
    return data.kind === "replicated" ? data.lagMs : 0;
  });
  const diverged = new DivergedClients(state);
  const old = new OldService(legacy, tokenParameter, timeoutMs);
  const closing = new AbortController();
  let isReachable = true;
  const timer = setInterval(() => {
    if (rollout.plan().data.kind !== "separate") return;
    diverged.refresh().then(
      () => void (isReachable = true),
      (error: unknown) => {
        if (isReachable)
          log.warn(
            { code: "AG_COMPARISON_STATE_UNKNOWN", error: errorText(error) },
            "which clients have data of their own can't be shared: replicas may compare what can't be equal",
          );
        isReachable = false;
      },
    );
  }, REFRESH_MS).unref();
  return {
    rollout,
    old,
    budget,
    fence,
    diverged,
    volatile: new VolatileFields(),
    report(compared, isKnown) {
      report(compared);
      if (isKnown) rollout.note(compared);
    },
    acceptedTokens: createTokensOfOldService(),
    closing: closing.signal,
    async close() {
      closing.abort();
      clearInterval(timer);
      await old.close();
    },
  };
}

/** A request of the client's API that one side serves. */
export interface RoutedRequest {
  readonly plain: AlphaRequest;
  readonly hasBody: boolean;
  readonly route: Route | undefined;
  readonly side: "old" | "new";
  /** As commands name it; undefined: nobody knows who it is. */
  readonly client: string | undefined;
  readonly fingerprint: string | undefined;
  readonly token: string | undefined;
  readonly hasGatewayToken: boolean;
  /** Whether the sender is known: see `KnownSenders`. */
  readonly isKnown: () => boolean;
}

/** The comparisons of a pack. */
export interface Shadow {
  /** Begins to compare a request, where it is compared. Notes it where it is a write. */
  begin(routed: RoutedRequest): Begun | undefined;
  /** Takes the answer of the translation to a client, once it was sent. */
  readonly servedNew: (exchange: Exchange) => void;
}

/** What a request needs of its comparison. */
export interface Begun {
  /** Takes the answer of the old service to the client. */
  servedOld(exchange: LegacyExchange): void;
  /** Ends a write. */
  end(): void;
  /** Whether the answer is needed. */
  readonly isCompared: boolean;
}

/** Whose budget senders share that nobody knows: invented tokens have no budget of their own. */
const STRANGERS = UNNAMED;

/** Whose writes a request's sender has. */
const writerOf = ({ client, fingerprint }: RoutedRequest): string => client ?? fingerprint ?? STRANGERS;

/** Why the old service gave no answer: a route returns only to a service that is well. */
const NO_ANSWER: ReadonlySet<string> = new Set(["timeout", "unreachable"]);

/** The bytes of a body; undefined where it is too long, or a file. */
async function wholeBody(start: BodyStart | undefined): Promise<Buffer | undefined> {
  if (!start) return Buffer.alloc(0);
  const { bytes, isWhole } = await start.decode(MAX_COMPARED_BYTES);
  return isWhole ? bytes : undefined;
}

/** The answer of the old service to a client, or why there is none to compare. */
async function answerOf({ answer, outcome }: LegacyExchange): Promise<Asked> {
  if (outcome.status === CLIENT_GONE) return "client_gone";
  if (!answer) return "unreachable";
  if (outcome.isComplete === false) return "unreadable";
  const body = await wholeBody(answer.body);
  return body ? { status: answer.status, headers: textHeaders(answer.headers), body } : "size";
}

/** The answer of the translation to a client, or why there is none to compare. */
function translatedAnswer({ outcome, context }: Exchange): Asked {
  const { status, response } = outcome;
  if (status === CLIENT_GONE) return "client_gone";
  if (response.file) return "size";
  // What the gateway itself refuses, or leaves out by its plan, is not the translation.
  if (context.rejectedBy !== undefined || context.hiddenFields) return "limited";
  return { status: response.status, headers: response.headers, body: response.body };
}

/** Creates the comparisons of the active pack. */
export function createShadow(
  settings: Settings,
  dependencies: PublicAppDependencies,
  { rollout, old, budget, fence, diverged, volatile, report, closing }: ShadowService,
): Shadow {
  const { pack, log } = dependencies;
  const filterHeader = pack.dialect.client.filters?.header?.toLowerCase();
  const runner = new ShadowRunner({
    share: () => {
      const { share } = rollout.plan().compare;
      return share === 0 ? undefined : share / BUCKETS;
    },
    judge: createJudge(pack, volatile),
    subject: () => `${pack.hash} ${rollout.plan().data.kind}`,
    budget,
    fence,
    translate: createShadowTranslation(settings, dependencies),
    async askOld({ route, request, isKnown }, body) {
      const answer = await old.ask(request, body);
      const hasFailed = typeof answer === "string" ? NO_ANSWER.has(answer) : answer.status >= 500;
      if (isKnown()) rollout.noteOutcome(route.name, "old", hasFailed, request.id);
      return answer;
    },
    report,
    closing,
    onError: (error, requestId) =>
      log.error(
        { code: "AG_COMPARISON_FAILED", requestId, error: errorText(error) },
        "the old service and the translation could not be compared",
      ),
  });
  /** Comparisons of requests that the translation serves. A request is copied on its way; its signal is not. */
  const begun = new WeakMap<object, BegunComparison>();

  function servedOf(route: Route, routed: RoutedRequest): ServedRequest {
    const { plain, side, client, fingerprint, token, hasGatewayToken, isKnown } = routed;
    const writer = writerOf(routed);
    const isDiverged = rollout.plan().data.kind === "separate" && diverged.has(writer);
    return {
      request: plain,
      route,
      filter: (filterHeader === undefined ? undefined : header(plain, filterHeader)) ?? null,
      client: client ?? fingerprint ?? null,
      writer,
      payer: isKnown() ? writer : STRANGERS,
      isKnown,
      token,
      side,
      isFresh: side === "new" && rollout.isFresh(client, route.name),
      obstacle: hasGatewayToken ? "token" : isDiverged ? "diverged" : undefined,
    };
  }

  function beginRead(route: Route, routed: RoutedRequest): Begun | undefined {
    if (route.file || route.upload || rollout.plan().compare.skippedRoutes.has(route.name)) return undefined;
    const comparison = runner.begin(servedOf(route, routed));
    if (!comparison) return undefined;
    if (routed.side === "new") begun.set(routed.plain.signal, comparison);
    return {
      isCompared: true,
      end: () => {},
      servedOld: (exchange) =>
        void Promise.all([answerOf(exchange), wholeBody(exchange.sent)]).then(
          ([answer, body]) => comparison.served(answer, body),
          () => comparison.served("unreadable"),
        ),
    };
  }

  function beginWrite(routed: RoutedRequest): Begun {
    const writer = writerOf(routed);
    const endWrite = fence.begin(writer);
    // Invented tokens write nothing, and would fill what is remembered for good.
    const note = (): void => {
      if (rollout.plan().data.kind === "separate" && routed.isKnown()) diverged.note(writer);
    };
    note();
    return {
      isCompared: false,
      end() {
        // A token is known once a service has accepted it.
        note();
        endWrite();
      },
      servedOld: () => {},
    };
  }

  return {
    begin(routed) {
      const { route, plain } = routed;
      // The body of a read is not sent again: without it the request would be another one.
      if (READS.has(plain.method) && routed.hasBody) return undefined;
      const isRead = READS.has(plain.method) || route?.isSafe;
      if (isRead && !overridesMethod(plain)) return route && beginRead(route, routed);
      return plain.method === "OPTIONS" ? undefined : beginWrite(routed);
    },
    servedNew(exchange) {
      const { signal } = exchange.request;
      begun.get(signal)?.served(translatedAnswer(exchange), exchange.context.body?.bytes);
      begun.delete(signal);
    },
  };
}
