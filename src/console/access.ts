import {
  clientAddresses,
  createHostCheck,
  createMemoryLimiter,
  hostOf,
  normalizeAddress,
  SAFE_METHODS,
  SAME_SITES,
} from "../gateway/index.ts";
import { addressNetwork } from "../base/index.ts";
import { createHash, timingSafeEqual, randomBytes } from "node:crypto";
import { Router, urlencoded, type RequestHandler } from "express";
import type { Request, Response } from "express";
import { sendErrors } from "./responses.ts";
import type { Pages } from "./console-pages.ts";

/** Matches the paths with data: exports and reports contain customer data, and take long. Pages are not included. */
const DATA = /^\/(?:api|metrics)(?:\/|$)/i;

/**
 * Rejects requests from pages of a different origin that would change something (cross-site request forgery), or read
 * data. If there is no admin token, there is no other protection from a page that an operator visits: a link or a
 * script element on it sends a GET. Browsers send `Origin` with every request that changes something, and
 * `Sec-Fetch-Site` with every request to loopback or over https (Fetch Metadata). Other programs send neither.
 */
export const guardOrigin: RequestHandler = function guardOrigin(request, response, next) {
  const { origin, host = "", "sec-fetch-site": site = "none" } = request.headers;
  const isOwn = (origin === undefined || hostOf(origin) === host.toLowerCase()) && SAME_SITES.has(site);
  const isSafe = SAFE_METHODS.has(request.method);
  if (isOwn || (isSafe && !DATA.test(request.path))) return next();
  const what = isSafe ? "read" : "change";
  return sendErrors(response, 403, `A page of another origin can't ${what} anything here.`);
};

/** Rejects requests to a loopback listener for a different host name. @param bound the address to which it is bound */
export function guardHost(bound: string | undefined): RequestHandler {
  const accepts = createHostCheck(bound);
  return function guardHost(request, response, next) {
    if (!accepts || accepts(request.headers.host)) return next();
    return sendErrors(response, 421, "This listener accepts loopback host names only, e.g. localhost.");
  };
}

const MAX_SESSIONS = 100;
const LIFETIME_MS = 12 * 60 * 60 * 1000;

/**
 * Creates the sessions of signed-in browsers, in memory: a restart signs all operators out.
 *
 * @param clock returns milliseconds of a monotonic clock.
 */
export function createSessions(clock: () => number = () => performance.now()) {
  const ends = new Map<string, number>();

  /** Starts a session and returns its id, 256 random bits. Above the limit the oldest session ends. */
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

  const end = (id: string): void => void ends.delete(id);
  // The lifetime of a session is in seconds.
  return { begin, has, end, lifetime: LIFETIME_MS / 1000 };
}

/** Maximum number of wrong tokens from an address: more than an operator mistypes, and far too few to guess a token. */
const WRONG_TOKEN_LIMIT = { points: 10, seconds: 60 };

/** Maximum number of addresses. If there are more, the least recently used one is dropped. */
const MAX_ADDRESSES = 10_000;

type Attempt =
  | { readonly outcome: "right" | "wrong" }
  | { readonly outcome: "limited"; readonly retryAfter: number };

/**
 * Checks a token. An address that has sent too many wrong tokens is limited, even if the token is right: otherwise the
 * response would reveal that. `retryAfter` is in seconds.
 */
type CheckToken = (address: string | undefined, token: string) => Attempt;

/** Creates the check of tokens. @param isToken tests whether a token is the admin token */
function createTokenCheck(isToken: (token: string) => boolean): CheckToken {
  const wrong = createMemoryLimiter(WRONG_TOKEN_LIMIT, MAX_ADDRESSES);

  return function tryToken(address, token) {
    const network = addressNetwork(normalizeAddress(address ?? "") ?? "");
    // Right tokens are never counted, not even temporarily: many concurrent requests would lock out their own address.
    if (isToken(token)) {
      const seconds = wrong.secondsUntilAllowed(network);
      return seconds > 0 ? { outcome: "limited", retryAfter: seconds } : { outcome: "right" };
    }
    const { isAllowed: allowed, retryAfter } = wrong.consume(network);
    return allowed ? { outcome: "wrong" } : { outcome: "limited", retryAfter };
  };
}

/** Cookies don't depend on the port: the name distinguishes this cookie from those of other services on this host. */
const COOKIE = "alpha_gateway_admin";

/**
 * Creates the middleware that requires the admin token: as a bearer token, or by a session of the console's sign-in
 * form. If it is missing, `/` returns the form, and every other path 401. Too many wrong tokens from one address get
 * 429.
 *
 * @param token The admin token; undefined: all requests are allowed.
 * @param trustProxy Addresses and networks of trusted proxies, which send the address of the client.
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

  router.post("/login", urlencoded({ extended: false, limit: "4kb" }), (request, response) => {
    const given = (request.body as Record<string, unknown> | undefined)?.["token"];
    if (typeof given !== "string") return pages.signIn(response, "wrong");
    const attempt = tryToken(addressOf(request), given.trim());
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

  router.use((request, response, next) => {
    const bearer = /^Bearer +(.+)$/i.exec(request.headers.authorization ?? "")?.[1];
    const attempt = bearer === undefined ? undefined : tryToken(addressOf(request), bearer);
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

/**
 * Creates the test of tokens. It compares hashes in constant time, so that the time does not reveal the token. Hashes
 * have equal lengths.
 */
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
