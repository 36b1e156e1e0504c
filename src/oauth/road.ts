import type { RateLimits } from "../limits/rate-limits.ts";
import { Refusal } from "../dialect/refusal.ts";
import { withEnds, type EndParts, type Made, type Road } from "../gateway/ends.ts";
import { hasFragment, type AlphaRequest, type Notes } from "../gateway/exchange.ts";
import { meter } from "../gateway/meter.ts";
import { authorize, logout, type AuthorizeParts } from "./authorize.ts";
import { exchangeCode, type ExchangeParts } from "./exchange-code.ts";
import { expireToken, type ExpireParts } from "./expire-token.ts";

export interface OAuthParts
  extends
    EndParts,
    Omit<ExchangeParts, "grants" | "asked">,
    ExpireParts,
    Omit<AuthorizeParts, "definition" | "asked"> {
  readonly asked: AuthorizeParts["asked"] & ExchangeParts["asked"];
  readonly grants: ExchangeParts["grants"] & ExpireParts["grants"];
  readonly limits: RateLimits;
  readonly limitedStatus: number;
}

type Work = (request: AlphaRequest, notes: Notes) => Promise<Made>;

const NOBODY = { token: undefined, hash: undefined };

/** Alpha's calls to the login server, by method and path. Undefined for a request that is none of them. */
export function buildOAuth(parts: OAuthParts): (request: AlphaRequest) => Road | undefined {
  const { definition, limits, limitedStatus } = parts;
  const works = new Map<string, Work>([
    [
      `GET ${definition.authorize.alpha}`,
      (request, notes) => authorize(request, notes, { ...parts, definition: definition.authorize }),
    ],
    [`POST ${definition.token.alpha}`, (request, notes) => exchangeCode(request, notes, parts)],
    [`POST ${definition.expire.alpha}`, (request, notes) => expireToken(request, notes, parts)],
    [
      `GET ${definition.logout.alpha}`,
      async (_, notes) => logout(notes, definition.logout.v4, parts.authOrigin),
    ],
  ]);
  const paths = new Set([...works.keys()].map((name) => name.slice(name.indexOf(" ") + 1)));

  /** Counted by address: nobody has shown yet who it is. */
  async function work(request: AlphaRequest, notes: Notes): Promise<Made> {
    const name = `${request.method} ${request.path}`;
    const answer = works.get(name);
    if (answer) notes.route = name;
    await meter(request, NOBODY, notes, { limits, limitedStatus });
    if (hasFragment(request)) throw new Refusal(400, "The address has a fragment.");
    if (!answer) throw new Refusal(404, "Not found");
    return answer(request, notes);
  }

  const road = withEnds(work, parts);
  return (request) => (paths.has(request.path) ? road : undefined);
}
