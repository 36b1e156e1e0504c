/** The login server: `/oauth/authorize`, `/oauth/token`, `/oauth/revoke` and `/logout`. */

import { randomBytes } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { stringOf } from "../fields/typed-values.ts";
import { readBody } from "../http/http-listener.ts";
import { pageHeaders, problemPage, signedOutPage } from "./consent-page.ts";
import { createPendingSignIns, finishSignIn, startSignIn } from "./sign-in.ts";
import type { Form } from "./token-endpoint.ts";
import { OAuthProblem, issueTokenResponse, revokeToken } from "./token-endpoint.ts";
import type { Store } from "../resource/resource-declaration.ts";

const maxFormBytes = 65_536;
const cookieName = "sandbox_browser";

/** Returns the browser id of our cookie; undefined if it is missing or malformed. */
function browserOf({ headers }: IncomingMessage): string | undefined {
  return new RegExp(`(?:^|; )${cookieName}=([0-9a-f]{64})(?:;|$)`).exec(headers.cookie ?? "")?.[1];
}

/** Whether a form comes from another site (CSRF). Browsers send an origin with every form. */
function isCrossOrigin({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers;
  return origin !== undefined && URL.parse(origin)?.host !== host;
}

/** Reads a form. @throws {OAuthProblem} if the body is too long or not a form. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const bytes = await readBody(request, maxFormBytes);
  const headers = { "content-type": request.headers["content-type"] ?? "" };
  try {
    if (!bytes) throw new Error("too long");
    const data = await new Response(Buffer.from(bytes), { headers }).formData();
    return new URLSearchParams([...data].map(([name, value]): [string, string] => [name, stringOf(value)]));
  } catch {
    throw new OAuthProblem("invalid_request", "The body must be a form of at most 64 kB.");
  }
}

function tokenForm(form: URLSearchParams): Form {
  const names = [...form.keys()];
  if (new Set(names).size < names.length)
    throw new OAuthProblem("invalid_request", "A member of the form came twice.");
  return Object.fromEntries(form);
}

/**
 * Creates the listener of the login server.
 *
 * @param tokenSeconds Lifetime of an access token.
 */
export function createLoginListener(store: Store, tokenSeconds: number): RequestListener {
  const questions = createPendingSignIns(store.clock);

  function authorize(request: IncomingMessage, response: ServerResponse, query: string): void {
    const browser = browserOf(request) ?? randomBytes(32).toString("hex");
    const result = startSignIn(store, questions, query, browser);
    if ("location" in result) return void response.writeHead(302, { Location: result.location }).end();
    const cookie = `${cookieName}=${browser}; Path=/oauth; HttpOnly; SameSite=Strict`;
    response.writeHead(200, { ...pageHeaders(result.target), "Set-Cookie": cookie }).end(result.page);
  }

  /** Deletes the browser's cookie, so that its pending sign-ins can no longer be finished. */
  function signOut(response: ServerResponse): void {
    const cookie = `${cookieName}=; Path=/oauth; Max-Age=0; HttpOnly; SameSite=Strict`;
    response.writeHead(200, { ...pageHeaders(), "Set-Cookie": cookie }).end(signedOutPage());
  }

  async function decide(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = await readForm(request);
    if (isCrossOrigin(request)) throw new OAuthProblem("invalid_request", "This form is not ours.", 403);
    const location = finishSignIn(store, questions, form, browserOf(request) ?? "");
    response.writeHead(303, { Location: location, "Cache-Control": "no-store" }).end();
  }

  function json(response: ServerResponse, status: number, body: object): void {
    const headers = { "Content-Type": "application/json", "Cache-Control": "no-store" };
    response.writeHead(status, headers).end(JSON.stringify(body));
  }

  function sendError(response: ServerResponse, error: unknown, isPage: boolean): void {
    const problem =
      error instanceof OAuthProblem
        ? error
        : new OAuthProblem("server_error", "An unexpected error occurred.", 500);
    if (isPage) response.writeHead(problem.status, pageHeaders()).end(problemPage(problem.message));
    else json(response, problem.status, { error: problem.error, error_description: problem.message });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = "", ...rest] = (request.url ?? "").split("?");
    const route = `${request.method ?? ""} ${path}`;
    const isPage = path === "/oauth/authorize" || path === "/logout";
    try {
      if (route === "GET /logout") signOut(response);
      else if (route === "GET /oauth/authorize") authorize(request, response, rest.join("?"));
      else if (route === "POST /oauth/authorize") await decide(request, response);
      else if (route === "POST /oauth/token")
        json(response, 200, issueTokenResponse(store, tokenForm(await readForm(request)), tokenSeconds));
      else if (route === "POST /oauth/revoke") {
        revokeToken(store, tokenForm(await readForm(request)));
        json(response, 200, {});
      } else throw new OAuthProblem("not_found", "There is nothing here.", 404);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else sendError(response, error, isPage);
    }
  }

  return (request, response) => void serve(request, response);
}
