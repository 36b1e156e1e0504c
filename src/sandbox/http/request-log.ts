/** What arrived lately, for whoever wants to see what a client really sent. */

export interface LoggedRequest {
  readonly method: string;
  /** Path with query, as received. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed where it was JSON, the text where it was not, undefined where there was none. */
  readonly body: unknown;
}

const maxRequests = 200;
/** A longer body is kept as the beginning of its text. */
const maxBodyCharacters = 65_536;

export interface RequestLog {
  readonly requests: readonly LoggedRequest[];
  add(request: LoggedRequest & { readonly body: string }): void;
}

export function createRequestLog(): RequestLog {
  const requests: LoggedRequest[] = [];
  return {
    requests,
    add(request) {
      if (requests.length >= maxRequests) requests.shift();
      requests.push({ ...request, body: parseLoggedBody(request.body) });
    },
  };
}

function parseLoggedBody(text: string): unknown {
  if (text === "") return undefined;
  if (text.length > maxBodyCharacters) return text.slice(0, maxBodyCharacters);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
