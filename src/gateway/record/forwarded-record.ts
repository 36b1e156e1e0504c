/** The records of forwarded requests: requests in v4's own dialect, and requests to the old service. */
import type { IncomingHttpHeaders } from "node:http";
import {
  isForm,
  omittedBody,
  type RecordedBody,
  type Redaction,
  type SecretValues,
} from "../../audit/index.ts";
import { isJson } from "../../base/index.ts";
import { type Rejection, usualTokenTexts } from "../../pack/index.ts";
import { isServed } from "../auth/known-senders.ts";
import { isForwarded } from "../http/forwarded-headers.ts";
import type { AlphaRequest } from "../request/request.ts";
import { type DecodedStart, readable, wholeCharacters } from "./body-start.ts";
import { LONGEST_BODY_WITHOUT_TOKEN, redactBodies, type RecordedExchange } from "./recorded-exchange.ts";
import {
  beganAt,
  findSecrets,
  type RecordedSender,
  type RecordOptions,
  unparsedTokens,
} from "./recorded-request.ts";

/** The end of a forwarded request. */
export interface ForwardOutcome {
  readonly status: number;
  /** Status of the upstream's response. Null without a response, undefined if the upstream was not called. */
  readonly upstreamStatus: number | null | undefined;
  /** Whether all of the upstream's response has come. */
  readonly isComplete?: boolean;
  /** Whether the upstream has accepted the token, in this request or before. */
  readonly isAccepted: boolean;
  /** The application that the gateway has issued the token to. */
  readonly application?: string | undefined;
  /** Whether the response is an error of the gateway because the upstream has failed, or the gateway has. */
  readonly hasFailed?: boolean;
  /** Why the gateway itself rejected the request, where such rejections are counted. */
  readonly rejectedBy?: Rejection["by"] | undefined;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly warnings: readonly string[];
  readonly ms: number;
}

/** The notes about one exchange while it passes, and its record. */
export interface ForwardRecording {
  /** A part of the client's body. */
  readonly onSent?: (chunk: Buffer) => void;
  /** The head of the response, as the upstream sent it. */
  readonly onHead: (headers: IncomingHttpHeaders) => void;
  /** A part of its body. */
  readonly onReceived: (chunk: Buffer) => void;
  /** Records the exchange. @throws where the record cannot be written */
  readonly record: (outcome: ForwardOutcome) => Promise<void>;
}

/** A forwarded request, once its response has ended. */
export interface ForwardedExchange extends RecordedExchange {
  readonly outcome: ForwardOutcome;
}

/** The common part of the exchanges of both lanes. @param wasCalled whether the time of the request is the upstream's */
function createForwarded(
  request: AlphaRequest,
  outcome: ForwardOutcome,
  sender: RecordedSender,
  wasCalled: boolean,
): Omit<ForwardedExchange, "lane" | "route" | "calls" | "read"> {
  const { status, rejectedBy, warnings, ms, bytesIn, bytesOut } = outcome;
  return {
    request,
    hash: sender.hash,
    outcome,
    status,
    rejectedBy,
    warnings,
    losses: [],
    timings: { total: ms, upstream: wasCalled ? ms : 0, translation: 0 },
    beganAt: () => beganAt(request),
    sender: () => sender,
    bytes: () => ({ in: bytesIn, out: bytesOut }),
  };
}

/** The kept parts of the bodies of a forwarded request and its response. */
export interface ForwardedBodies {
  readonly sent?: DecodedStart | undefined;
  readonly received: DecodedStart | undefined;
}

/** Adds the secret values of a body and of the head of its message. */
function addMessage(
  { headers, type }: DecodedStart,
  bytes: Buffer | undefined,
  redaction: Redaction,
  secrets: SecretValues,
): void {
  const body = bytes && bytes.length > 0 ? { bytes, type } : undefined;
  redaction.addFrom({ path: "", isRoute: false, query: "", texts: [], headers, body }, secrets);
}

/** All lines of the `Connection` header, as Node joins them. */
const connectionOf = ({ headers }: AlphaRequest): string | undefined => headers["connection"]?.join(", ");

const UNSEARCHED = "the upstream's response can't be searched for secrets";

/**
 * Adds the secret values of v4's response, which the client's texts may repeat. A body that can't be searched may have any.
 *
 * @param isComplete Whether all of the body has come. Of a part the last value may be a part, too.
 */
function addResponse(
  response: DecodedStart,
  redaction: Redaction,
  secrets: SecretValues,
  isComplete: boolean,
): void {
  const { bytes, isKept, lack } = response;
  if (isKept && lack !== undefined) secrets.markIncomplete(`${UNSEARCHED}: ${lack}`);
  else if (!isComplete && redaction.mayHaveSecrets(bytes.toString()))
    secrets.markIncomplete(`${UNSEARCHED}: it is cut`);
  addMessage(response, lack === undefined ? bytes : undefined, redaction, secrets);
}

/** A request in v4's own dialect: its head and its status, without bodies. @param received undefined where v4 has not responded */
export function nativeExchange(
  request: AlphaRequest,
  outcome: ForwardOutcome,
  hash: string | undefined,
  { received }: ForwardedBodies,
): ForwardedExchange {
  const { upstreamStatus, application, isAccepted, isComplete = false, ms } = outcome;
  const calls = upstreamStatus === undefined ? [] : [{ status: upstreamStatus }];
  return {
    ...createForwarded(request, outcome, { hash, application, isAccepted }, upstreamStatus !== undefined),
    lane: "native",
    route: null,
    calls,
    read(options) {
      const secrets = findSecrets(request, null, undefined, unparsedTokens(request, options), options);
      if (received) addResponse(received, options.redaction, secrets, isComplete);
      const filterHeader = options.filterHeader?.toLowerCase() ?? "";
      return {
        secrets,
        // No route of the pack distinguishes the words of this path from secrets. So only tokens, and values after
        // secret names, are replaced.
        pathSecrets: secrets.tokensOnly(),
        isTrusted: isAccepted,
        calls({ method, path, query, filter }) {
          const isFilterSent = filter !== null && isForwarded(filterHeader, connectionOf(request));
          const target = query === "" ? path : `${path}?${query}`;
          const call = { method, path: target, filter: isFilterSent ? filter : null, ms };
          return calls.map(({ status }) => ({ ...call, status }));
        },
      };
    },
  };
}

/** Bytes of v4's response that are searched for secrets; 0 if the record has no texts of the client in which they may be. */
export const searchedBytes = (
  { query, headers }: AlphaRequest,
  { filterHeader, redaction }: RecordOptions,
): number =>
  query !== "" || headers[filterHeader?.toLowerCase() ?? ""] !== undefined ? redaction.maxSearched : 0;

/** A body in its recorded form. Undefined without one. */
function recordBody(
  body: DecodedStart | undefined,
  redaction: Redaction,
  secrets: SecretValues,
): RecordedBody {
  if (!body || body.length === 0) return undefined;
  const { type, lack, length } = body;
  const bytes = readable(body);
  if (!bytes)
    return {
      streamed: { bytes: length, ...(type !== undefined && { type: redaction.text(type, secrets) }) },
    };
  if (lack !== undefined)
    return isForm({ type, bytes })
      ? omittedBody(length, "a form that is too long")
      : redaction.start(bytes, length, secrets);
  return isJson(bytes) ? redaction.json(bytes, secrets) : redaction.body({ bytes, type }, secrets);
}

/** The sender of a request to the old service, and the pack's route for it. */
export interface LegacySender {
  readonly hash: string | undefined;
  /** Whether the old service has accepted the token, in this request or before. */
  readonly isAccepted: boolean;
  readonly route: string | null;
  /** Guesses the route of an API without a pack. @param path Without secrets. */
  readonly guessRoute?: ((path: string) => string | null) | undefined;
}

/** A request that the old service has answered: a call of the client's API, without a call of v4. */
export function legacyExchange(
  request: AlphaRequest,
  outcome: ForwardOutcome,
  { hash, isAccepted, route, guessRoute }: LegacySender,
  { sent, received }: ForwardedBodies,
): ForwardedExchange {
  const { upstreamStatus } = outcome;
  const sender = { hash, application: undefined, isAccepted };
  return {
    ...createForwarded(request, outcome, sender, typeof upstreamStatus === "number"),
    lane: "legacy",
    route,
    calls: [],
    read({ redaction, ...options }) {
      const tokens = [...unparsedTokens(request, options), ...usualTokenTexts(request)];
      const secrets = findSecrets(request, route, undefined, tokens, { redaction, ...options });
      for (const message of [sent, received]) {
        // Only the start of a longer body is searched, because only the start is recorded.
        const bytes = readable(message)?.subarray(0, redaction.maxSearched);
        if (message) addMessage(message, bytes && wholeCharacters(bytes), redaction, secrets);
      }
      // A client that is not served can send anything at no cost.
      const isTrusted = isAccepted || isServed(upstreamStatus ?? 0);
      const isBodyRecorded =
        options.bodies && (isTrusted || (sent?.length ?? 0) <= LONGEST_BODY_WITHOUT_TOKEN);
      const { body, response } = redactBodies(secrets, () => ({
        body: isBodyRecorded ? recordBody(sent, redaction, secrets) : undefined,
        response: options.bodies ? recordBody(received, redaction, secrets) : undefined,
      }));
      return {
        secrets,
        // A list with a secret in each row must not hide the called path.
        ...(guessRoute && !secrets.isComplete && { pathSecrets: secrets.tokensOnly() }),
        isTrusted,
        alpha: { ...(body !== undefined && { body }), ...(response !== undefined && { response }) },
        guessRoute,
        calls: () => [],
      };
    },
  };
}
