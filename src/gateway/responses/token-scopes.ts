/** Responses that contain tokens: v4's scopes in them become alpha's levels. */
import { errorText, isObject, type Owner, parseJson, printJson } from "../../base/index.ts";
import { levelsLoss, type TokensStep, valueAt } from "../../pack/index.ts";
import type { AuthorizedRequest } from "../request/authorized-request.ts";
import { personalOwner } from "../auth/stored-token.ts";
import { currentGrants } from "../stages/authorize.ts";
import { createFetchCurrent } from "../stages/translate-body.ts";

type Row = Record<string, unknown>;

/** Number of characters of a token in v4's lists. */
const SHOWN_CHARACTERS = 16;

/** Seconds for which a token that never expires is stored: longer than it will be used. */
const ENDLESS_SECONDS = 100 * 365 * 86_400;
const DAY_SECONDS = 86_400;

const shownPart = (token: unknown): string =>
  typeof token === "string" ? token.slice(0, SHOWN_CHARACTERS) : "";

function secondsUntil(end: unknown, now: number): number {
  const time =
    typeof end === "string" ? Date.parse(/Z$|[+-]\d\d:\d\d$/.test(end) ? end : `${end}Z`) : Number.NaN;
  // Stored for longer than the lifetime of the token, even if the clocks of the gateway and v4 differ.
  return Number.isNaN(time) ? ENDLESS_SECONDS : Math.max(0, (time - now) / 1000) + DAY_SECONDS;
}

function ownerOf({ client, token }: AuthorizedRequest): Owner {
  const { issued } = token.resolved;
  return personalOwner(client.hash, typeof issued === "object" ? issued.owner : undefined);
}

/**
 * Replaces a token that v4 has just created, and that has v4's scopes, with a gateway token that has the requested
 * levels. A client can't create a token with more permissions than its own.
 *
 * @throws {StateUnavailableError} if it can't be stored: the client then does not get the token
 */
async function issueGatewayToken(row: Row, step: TokensStep, authorized: AuthorizedRequest): Promise<void> {
  const { services, token: clientToken } = authorized;
  const { pack, tokens, tokenStore } = services;
  const { scopes } = pack;
  const token = row[step.token];
  if (typeof token !== "string") return;
  // If the response contains no scopes, the gateway token has no levels: v4's token may have more permissions.
  const { [step.scopes]: scopesOfV4 } = row;
  const requested = typeof scopesOfV4 === "string" ? scopesOfV4 : "";
  const clientGrants = (await currentGrants(clientToken.resolved, tokens)) ?? "all";
  const grants = scopes.common(scopes.read(requested).grants, clientGrants);
  if (grants === "all") return;
  const granted = scopes.write(grants);
  const at = Date.now();
  const seconds = secondsUntil(step.expires === undefined ? undefined : row[step.expires], at);
  const start = shownPart(token);
  const owner = ownerOf(authorized);
  const issued = { token, expiresInSeconds: undefined, refresh: undefined };
  const ofGateway = await tokenStore.save(issued, {
    scopes: granted,
    owner,
    refresh: undefined,
    at,
    seconds,
    shown: start,
  });
  row[step.token] = ofGateway;
  await tokenStore.saveLevels(start, ofGateway, granted, owner, seconds);
  row[step.scopes] = granted;
}

/** Replaces the scopes of a listed token with the levels that were requested for it and that v4 confirms. */
async function showRequestedLevels(
  row: Row,
  step: TokensStep,
  { services, report }: AuthorizedRequest,
): Promise<void> {
  const { pack, tokenStore } = services;
  const { scopes } = pack;
  const given = row[step.scopes];
  if (typeof given !== "string") return;
  const requested = await tokenStore.findLevels(shownPart(row[step.token])).catch(() => {
    report.losses.add(levelsLoss(step.scopes));
    return undefined;
  });
  if (requested === undefined) return;
  row[step.scopes] = scopes.write(scopes.common(scopes.read(given).grants, scopes.read(requested).grants));
}

/**
 * The steps of a route about tokens before and after its call. A token is only created if it can be stored, and all its
 * stored data is deleted with it.
 *
 * @returns the step after a successful call
 * @throws {HttpError} 429 if the client has too many tokens
 */
export async function beforeTokenCall(
  step: TokensStep,
  authorized: AuthorizedRequest,
): Promise<() => Promise<void>> {
  const { services, match, report } = authorized;
  const { tokenStore, pack } = services;
  if (step.created) await tokenStore.requireRoom(ownerOf(authorized));
  const readRoute = match.route.readRoute === undefined ? undefined : pack.route(match.route.readRoute);
  if (!step.deleted || !readRoute) return async () => {};
  // Only the object identifies the token. If v4 does not return it, the entries stay until they expire.
  const current = await createFetchCurrent(readRoute, authorized)?.();
  const start = shownPart(current?.[step.token]);
  return async () => {
    if (start.length !== SHOWN_CHARACTERS) return;
    await tokenStore.forget(start).catch((error: unknown) => {
      report.warnings.push(`stored data of a deleted token stays: ${errorText(error)}`);
    });
  };
}

/** Replaces v4's scopes with alpha's levels in a response with tokens: a new token, or a list. */
export async function applyTokenScopes(
  body: string | Buffer,
  step: TokensStep,
  authorized: AuthorizedRequest,
): Promise<string> {
  const response = parseJson(body.toString());
  const found = step.rows ? valueAt(response, step.rows) : [response];
  const rows = (Array.isArray(found) ? found : []).map((row) => valueAt(row, step.item)).filter(isObject);
  const apply = step.created ? issueGatewayToken : showRequestedLevels;
  await Promise.all(rows.map((row) => apply(row as Row, step, authorized)));
  return printJson(response);
}
