import { HttpError } from "../../dialect/http-error.ts";
import type { Scopes } from "../../dialect/scopes.ts";
import type { HandlerResult } from "../../pipeline/lifecycle.ts";
import type { AlphaRequest, RequestContext } from "../../pipeline/context.ts";
import type { OAuthDefinition } from "../../mapping/schema/definition.ts";
import type { RequestedScopes } from "./requested-scopes.ts";

export interface AuthorizeDependencies {
  readonly definition: OAuthDefinition["authorize"];
  readonly scopes: Scopes;
  readonly requestedScopes: Pick<RequestedScopes, "remember">;
  readonly rateLimitedStatus: number;
  /** Base address of the login server. */
  readonly authOrigin: URL;
}

const LONGEST_CLIENT = 256;
const LONGEST_LOSS = 200;

/** RFC 6749 4.1.2.1. */
const INVALID_SCOPE = "invalid_scope";

/** A value as it stands in a query, still encoded. */
interface Pair {
  readonly name: string;
  readonly raw: string;
}

/**
 * What can't stand in an address as it is, and `;`, at which some servers split a query: a value would become a
 * parameter. All else goes on byte for byte: `+` and `%20` are two things to some.
 */
const escaped = (raw: string): string =>
  raw.replace(
    /[^\x21\x22\x24-\x3a\x3c-\x7e]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );

function pairsOf(query: string): Pair[] {
  return query
    .split("&")
    .filter(Boolean)
    .map((pair) => {
      const [name = ""] = new URLSearchParams(pair).keys();
      const equals = pair.indexOf("=");
      return { name, raw: equals < 0 ? "" : pair.slice(equals + 1) };
    });
}

const addressOf = (base: URL, path: string): string => `${base.href.replace(/\/$/, "")}${path}`;

/** Sends the browser to where the login server signs its user out. */
export function logout(notes: RequestContext, v4: string, authOrigin: URL): HandlerResult {
  notes.upstreamEquivalent = `GET ${v4}`;
  return { status: 302, body: "{}", headers: { location: addressOf(authOrigin, v4) } };
}

/**
 * Sends the browser on to the login server, and remembers what the client asked for.
 *
 * @throws {HttpError} 400 without a client, with a parameter twice, or with scopes of which none is known; the browser
 *   is sent nowhere then. Alpha's status for a limit where the address or the application has asked for too
 *   many different things.
 */
export async function redirectToLogin(
  request: AlphaRequest,
  notes: RequestContext,
  parts: AuthorizeDependencies,
): Promise<HandlerResult> {
  const { definition, scopes, requestedScopes: asked, authOrigin, rateLimitedStatus: limitedStatus } = parts;
  const pairs = pairsOf(request.query);
  const kept = definition.keeps.flatMap((name) => {
    const given = pairs.filter((pair) => pair.name === name);
    if (given.length > 1) throw new HttpError(400, `There is more than one ${name}.`);
    return given;
  });
  const parameters = new URLSearchParams(request.query);
  const [clientName = ""] = definition.keeps;
  const client = parameters.get(clientName) ?? "";
  if (client === "" || client.length > LONGEST_CLIENT) throw new HttpError(400, `${clientName} is required.`);
  const scopesAsked = parameters.getAll(definition.scopes).join(",");
  const { grants, unknown } = scopes.read(scopesAsked);
  const names = unknown.join(",").slice(0, LONGEST_LOSS);
  if (unknown.length > 0 && grants !== "all" && grants.size === 0)
    throw new HttpError(400, `${INVALID_SCOPE}: ${names}`);
  if (unknown.length > 0) notes.losses.add(`${definition.scopes}: unknown, not asked for: ${names}`);
  if (!(await asked.remember(client, grants, request.address))) {
    notes.rejectedBy = "limit";
    throw new HttpError(limitedStatus, "Too many different scopes were asked for. Try again later.");
  }

  const wanted = scopes.toV4(scopesAsked).join(",");
  const query = [
    ...kept.map(({ name, raw }) => `${name}=${escaped(raw)}`),
    ...Object.entries(definition.add).map(([name, value]) => `${name}=${encodeURIComponent(value)}`),
    ...(wanted === "" ? [] : definition.v4_scopes.map((name) => `${name}=${encodeURIComponent(wanted)}`)),
  ].join("&");
  notes.upstreamEquivalent = `GET ${definition.v4}`;
  const location = `${addressOf(authOrigin, definition.v4)}?${query}`;
  return { status: 302, body: "{}", headers: { location } };
}
