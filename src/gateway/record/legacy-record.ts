/** The record of a request that the old service answered: its head, and the beginning of both bodies. */
import type { IncomingHttpHeaders } from "node:http";
import {
  isForm,
  omittedBody,
  type RecordedBody,
  type Redaction,
  type SecretValues,
} from "../../audit/index.ts";
import { isJson } from "../../base/index.ts";
import { usualTokenTexts } from "../../pack/index.ts";
import { isServed } from "../auth/known-senders.ts";
import type { AlphaRequest } from "../pipeline/request.ts";
import { type DecodedStart, readable, wholeCharacters } from "./body-start.ts";
import { createForwarded, type ForwardedExchange, type ForwardOutcome } from "./forward-outcome.ts";
import { redactBodies } from "./recorded-exchange.ts";
import { findSecrets, type RecordOptions, unparsedTokens } from "./recorded-request.ts";

/** A body as it is recorded; undefined without one. */
function recordBody(
  body: DecodedStart | undefined,
  redaction: Redaction,
  secrets: SecretValues,
): RecordedBody {
  if (!body || body.length === 0) return undefined;
  const { type, isWhole, length } = body;
  const bytes = readable(body);
  if (!bytes)
    return {
      streamed: { bytes: length, ...(type !== undefined && { type: redaction.text(type, secrets) }) },
    };
  if (!isWhole && isForm({ type, bytes })) return omittedBody(length, "a form that is too long");
  if (!isWhole) return redaction.start(bytes, length, secrets);
  return isJson(bytes) ? redaction.json(bytes, secrets) : redaction.body({ bytes, type }, secrets);
}

/** The request to the old service, and its answer. */
export interface LegacyBodies {
  readonly sent: DecodedStart | undefined;
  readonly received: DecodedStart | undefined;
  /** The head of the answer; undefined without one. */
  readonly headers: IncomingHttpHeaders | undefined;
}

function addBody(
  body: DecodedStart | undefined,
  headers: IncomingHttpHeaders | undefined,
  { redaction }: RecordOptions,
  secrets: SecretValues,
): void {
  // Of a longer body only the start is searched, as only that is recorded.
  const bytes = readable(body)?.subarray(0, redaction.maxSearched);
  const searched = bytes && { bytes: wholeCharacters(bytes), type: body?.type };
  redaction.addFrom({ path: "", isRoute: false, query: "", texts: [], headers, body: searched }, secrets);
}

/** Bytes of a body that is recorded of a rejected request of a stranger. */
const LONGEST_BODY_WITHOUT_TOKEN = 1024;

/** The sender of a request to the old service, and the pack's route for it. */
export interface LegacySender {
  readonly hash: string | undefined;
  /** Whether the old service has accepted the token, in this request or before. */
  readonly isAccepted: boolean;
  readonly route: string | null;
  /** Guesses the route of an API without a pack. @param path Without secrets. */
  readonly guessRoute?: ((path: string) => string | null) | undefined;
}

/** A request that the old service answered. It is a call of the client's API, without a call of v4. */
export function legacyExchange(
  request: AlphaRequest,
  outcome: ForwardOutcome,
  { hash, isAccepted, route, guessRoute }: LegacySender,
  { sent, received, headers }: LegacyBodies,
): ForwardedExchange {
  const { upstreamStatus } = outcome;
  return {
    ...createForwarded(request, hash, outcome, typeof upstreamStatus === "number"),
    lane: "legacy",
    route,
    calls: [],
    sender: () => ({ hash, application: undefined, isAccepted }),
    read(options) {
      const { redaction } = options;
      const tokens = [...unparsedTokens(request, options), ...usualTokenTexts(request)];
      const secrets = findSecrets(request, route, undefined, tokens, options);
      addBody(sent, undefined, options, secrets);
      addBody(received, headers, options, secrets);
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
        // A list with a secret in each row must not hide what was called.
        ...(guessRoute && !secrets.isComplete && { pathSecrets: secrets.tokensOnly() }),
        isTrusted,
        alpha: { ...(body !== undefined && { body }), ...(response !== undefined && { response }) },
        guessRoute,
        calls: () => [],
      };
    },
  };
}
