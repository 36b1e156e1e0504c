import { createHash, timingSafeEqual } from "node:crypto";
import { Router, urlencoded } from "express";
import type { Request, Response } from "express";
import { sendErrors } from "./responses.ts";
import { clientAddresses } from "../rate-limit/client-address.ts";
import { createTokenCheck } from "./limit-attempts.ts";
import type { Pages } from "./page.ts";
import { makeSessions } from "./sessions.ts";

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
  const sessions = makeSessions();

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
