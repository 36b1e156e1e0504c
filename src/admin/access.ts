import { createMemoryLimiter } from "../rate-limit/memory-limiter.ts";
import { createHash, timingSafeEqual, randomBytes } from "node:crypto";
import { Router, urlencoded, type RequestHandler } from "express";
import type { Request, Response } from "express";
import { sendErrors } from "./responses.ts";
import { clientAddresses, addressNetwork, normalizeAddress } from "../rate-limit/client-address.ts";
import type { Pages } from "./console-pages.ts";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** What `Sec-Fetch-Site` says of a page of the same origin, and of a user who asks without a page. */
const SAME_SITES = new Set(["same-origin", "none"]);

/**
 * Refuses what changes something where a page of another origin asks for it: without an admin token nothing else
 * would keep a web page that an operator visits from sending it (cross-site request forgery). Browsers send
 * `Origin` with every such request, or at least `Sec-Fetch-Site` (Fetch Metadata); programs send neither.
 */
export const guardOrigin: RequestHandler = function guardOrigin(request, response, next) {
  const { origin, host = "", "sec-fetch-site": site = "none" } = request.headers;
  const isOwn = origin === undefined || hostOf(origin) === host.toLowerCase();
  if (SAFE_METHODS.has(request.method) || (isOwn && SAME_SITES.has(site))) return next();
  return sendErrors(response, 403, "A page of another origin can't change anything here.");
};

/** `null`, which sandboxed pages send, is no host. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/**
 * On loopback, answers only requests that were sent to a loopback name.
 *
 * A web page can point a name of its own at 127.0.0.1 and then read this listener through its visitor's
 * browser (DNS rebinding); the `Host` header still tells. Bound elsewhere, names are the operator's business.
 */
export function guardHost(bound: string | undefined): RequestHandler {
  const own = bound?.includes(":") && !bound.startsWith("[") ? `[${bound}]` : bound;
  const guarded = own !== undefined && (LOOPBACK.includes(own) || own.startsWith("127."));
  const names = new Set([...LOOPBACK, own]);

  return function guardHost(request, response, next) {
    const name = (request.headers.host ?? "").toLowerCase().replace(/:\d+$/, "");
    if (!guarded || names.has(name)) return next();
    return sendErrors(response, 421, "This listener answers to its loopback names only, e.g. localhost.");
  };
}

const MAX_SESSIONS = 100;
const LIFETIME_MS = 12 * 60 * 60 * 1000;

/** Signed-in browsers of the console, in memory: a restart signs everybody out. */
interface Sessions {
  /** Begins a session and gives its id, 256 random bits. The oldest ends when there are too many. */
  readonly begin: () => string;
  readonly has: (id: string) => boolean;
  readonly end: (id: string) => void;
  /** Seconds. */
  readonly lifetime: number;
}

/** @param clock Milliseconds of a clock that nobody sets. Default that of the process. */
export function createSessions(clock: () => number = () => performance.now()): Sessions {
  const ends = new Map<string, number>();

  function begin(): string {
    const oldest = ends.keys().next();
    if (ends.size >= MAX_SESSIONS && !oldest.done) ends.delete(oldest.value);
    const id = randomBytes(32).toString("base64url");
    ends.set(id, clock() + LIFETIME_MS);
    return id;
  }

  function has(id: string): boolean {
    const end = ends.get(id);
    if (end === undefined) return false;
    if (end > clock()) return true;
    ends.delete(id);
    return false;
  }

  return { begin, has, end: (id) => void ends.delete(id), lifetime: LIFETIME_MS / 1000 };
}

/** Wrong tokens that an address may show: more than anybody mistypes, and far too few to guess with. */
const WRONG_TOKEN_LIMIT = { points: 10, seconds: 60 };

/** Beyond these the address that was silent longest is forgotten. */
const MAX_ADDRESSES = 10_000;

type Attempt =
  | { readonly outcome: "right" | "wrong" }
  | { readonly outcome: "limited"; readonly retryAfter: number };

/**
 * Looks at a token that an address shows, unless that address has shown too many wrong ones. Then a right one is not
 * taken either: its answer would tell it from the wrong ones. `retryAfter` is in seconds.
 */
type CheckToken = (address: string | undefined, token: string) => Promise<Attempt>;

/** @param isToken whether it is the right one */
function createTokenCheck(isToken: (token: string) => boolean): CheckToken {
  const wrong = createMemoryLimiter(WRONG_TOKEN_LIMIT, MAX_ADDRESSES);

  return async function tryToken(address, token) {
    const place = addressNetwork(normalizeAddress(address ?? "") ?? "");
    // A right one counts for nothing, not even for a moment: many at once would lock their own address.
    if (isToken(token)) {
      const seconds = await wrong.secondsUntilAllowed(place);
      return seconds > 0 ? { outcome: "limited", retryAfter: seconds } : { outcome: "right" };
    }
    const { isAllowed: allowed, retryAfter } = await wrong.consume(place);
    return allowed ? { outcome: "wrong" } : { outcome: "limited", retryAfter };
  };
}

/** Cookies know no ports: the name keeps it apart from those of other services on this host. */
const COOKIE = "alpha_gateway_admin";

/**
 * Lets through who shows the admin token: as a bearer token, or by the session that the console's sign-in
 * form began with it. Everybody else gets the form at `/`, and 401 anywhere else; 429 who has shown too many wrong ones.
 *
 * @param trustProxy addresses and networks of proxies that tell a client's address
 */
export function guardAccess(
  token: string | undefined,
  pages: Pages,
  trustProxy: readonly string[] = [],
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  if (token === undefined) return router;
  const tryToken = createTokenCheck(tokenTest(token));
  const addressOf = clientAddresses(trustProxy);
  const sessions = createSessions();

  router.use(pages.open);

  router.post("/login", urlencoded({ extended: false, limit: "4kb" }), async (request, response) => {
    const given = (request.body as Record<string, unknown> | undefined)?.["token"];
    if (typeof given !== "string") return pages.signIn(response, "wrong");
    const attempt = await tryToken(addressOf(request), given.trim());
    if (attempt.outcome === "limited") response.set("Retry-After", String(attempt.retryAfter));
    if (attempt.outcome !== "right") return pages.signIn(response, attempt.outcome);
    setCookie(request, response, sessions.begin(), sessions.lifetime);
    return response.redirect(303, "/");
  });

  router.post("/logout", (request, response) => {
    const id = sessionId(request);
    if (id !== undefined) sessions.end(id);
    setCookie(request, response, "", 0);
    response.redirect(303, "/");
  });

  router.use(async (request, response, next) => {
    const bearer = /^Bearer +(.+)$/i.exec(request.headers.authorization ?? "")?.[1];
    const attempt = bearer === undefined ? undefined : await tryToken(addressOf(request), bearer);
    if (attempt?.outcome === "right") return next();
    if (attempt?.outcome === "limited") {
      response.set("Retry-After", String(attempt.retryAfter));
      return sendErrors(
        response,
        429,
        "Too many wrong admin tokens came from this address. Try again later.",
      );
    }
    const id = sessionId(request);
    if (bearer === undefined && id !== undefined && sessions.has(id)) return next();
    if (request.path === "/" && bearer === undefined) return pages.signIn(response, "asked");
    response.set("WWW-Authenticate", 'Bearer realm="admin"');
    return sendErrors(response, 401, "This needs the admin token: Authorization: Bearer ADMIN_TOKEN.");
  });

  return router;
}

/** Compares hashes, which are of one length, so that the time tells nothing of the token. */
function tokenTest(token: string): (given: string) => boolean {
  const expected = sha256(token);
  return (given) => timingSafeEqual(sha256(given), expected);
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function sessionId(request: Request): string | undefined {
  const cookies = (request.headers.cookie ?? "").split(";").map((cookie) => cookie.trim());
  return cookies.find((cookie) => cookie.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1);
}

function setCookie(request: Request, response: Response, value: string, seconds: number): void {
  const { secure } = request;
  response.cookie(COOKIE, value, {
    httpOnly: true,
    sameSite: "strict",
    secure,
    maxAge: seconds * 1000,
    path: "/",
  });
}
