/** The record of a request in v4's own dialect: its head and its status, without bodies. */
import type { AlphaRequest } from "../pipeline/request.ts";
import { isForwarded } from "../http/forwarded-headers.ts";
import { createForwarded, type ForwardedExchange, type ForwardOutcome } from "./forward-outcome.ts";
import { findSecrets, type RecordOptions, unparsedTokens } from "./recorded-request.ts";
import type { NativeResponse } from "./response-secrets.ts";

/** All lines of the `Connection` header, as Node joins them. */
const connectionOf = ({ headers }: AlphaRequest): string | undefined => headers["connection"]?.join(", ");

/** A request in v4's own dialect. @param response what is searched for secrets; undefined where v4 has not responded */
export function nativeExchange(
  request: AlphaRequest,
  outcome: ForwardOutcome,
  hash: string | undefined,
  response: NativeResponse | undefined,
): ForwardedExchange {
  const { upstreamStatus, application, isAccepted, isComplete = false, ms } = outcome;
  const calls = upstreamStatus === undefined ? [] : [{ status: upstreamStatus }];
  return {
    ...createForwarded(request, hash, outcome, upstreamStatus !== undefined),
    lane: "native",
    route: null,
    calls,
    sender: () => ({ hash, application, isAccepted }),
    read(options) {
      const secrets = findSecrets(request, null, undefined, unparsedTokens(request, options), options);
      response?.addSecretsTo(secrets, options.redaction, isComplete);
      const filterHeader = options.filterHeader?.toLowerCase() ?? "";
      return {
        secrets,
        // No route of the pack distinguishes the words of this path from secrets: only tokens are replaced in it, and what
        // follows a secret name.
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
