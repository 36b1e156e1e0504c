import { isObject, parseJson, printJson } from "../../dialect/json/parse.ts";
import type { Grants, Scopes } from "../../dialect/scopes.ts";
import type { TokensStep } from "../../mapping/compile/route-steps.ts";
import type { TokenStore } from "../../auth/token-store.ts";
import type { RequestContext } from "../context.ts";

/** What is done with the tokens in an answer. */
export interface TokenScopes {
  readonly grants: Pick<TokenStore, "save" | "nameLevels" | "levelsNamed">;
  readonly scopes: Scopes;
  /** What the caller's own token may do; undefined while only v4 knows. */
  readonly caller: () => Promise<Grants | undefined>;
  readonly notes: RequestContext;
  readonly now: () => number;
}

type Row = Record<string, unknown>;

/** v4 shows so much of a token to whoever lists it. */
const SHOWN = 16;

/** A token without an end is kept for as long as anybody will look for it. */
const ENDLESS_SECONDS = 100 * 365 * 86_400;
const DAY_SECONDS = 86_400;

const shownOf = (token: unknown): string => (typeof token === "string" ? token.slice(0, SHOWN) : "");

function secondsUntil(end: unknown, now: number): number {
  const time =
    typeof end === "string" ? Date.parse(/Z$|[+-]\d\d:\d\d$/.test(end) ? end : `${end}Z`) : Number.NaN;
  // Longer than the token, whatever the clocks of both sides say.
  return Number.isNaN(time) ? ENDLESS_SECONDS : Math.max(0, (time - now) / 1000) + DAY_SECONDS;
}

/**
 * v4 has made a token, which would have v4's levels: a token of the gateway's own is handed out in its place, with
 * those that were asked for. Nobody makes a token that may do more than his own.
 *
 * @throws {StateUnavailable} where that can't be kept: nobody is told of the token then
 */
async function handOut(
  row: Row,
  step: TokensStep,
  { grants, scopes, caller, now }: TokenScopes,
): Promise<void> {
  const token = row[step.token];
  const wanted = row[step.scopes];
  if (typeof token !== "string" || typeof wanted !== "string") return;
  const levels = scopes.common(scopes.read(wanted).grants, (await caller()) ?? "all");
  if (levels === "all") return;
  const may = scopes.write(levels);
  const seconds = secondsUntil(step.ends === undefined ? undefined : row[step.ends], now());
  const shown = shownOf(token);
  const issued = { token, expiresInSeconds: undefined, refresh: undefined };
  row[step.token] = await grants.save(issued, { scopes: may, refresh: undefined, at: now(), seconds, shown });
  await grants.nameLevels(shown, may, seconds);
  row[step.scopes] = may;
}

/** Of a token that is listed, the levels that were asked for, as far as v4 says that it has them. */
async function show(row: Row, step: TokensStep, { grants, scopes, notes }: TokenScopes): Promise<void> {
  const given = row[step.scopes];
  if (typeof given !== "string") return;
  const kept = await grants.levelsNamed(shownOf(row[step.token])).catch(() => {
    notes.losses.add(`${step.scopes}: what was asked for is not known at the moment`);
    return undefined;
  });
  if (kept === undefined) return;
  row[step.scopes] = scopes.write(scopes.common(scopes.read(given).grants, scopes.read(kept).grants));
}

/**
 * Brings alpha's levels into an answer that carries tokens: one that v4 has just made, or such as it lists.
 *
 * @param list the name of the list, where the route gives one
 */
export async function applyTokenScopes(
  body: string | Buffer,
  step: TokensStep,
  list: string | undefined,
  levels: TokenScopes,
): Promise<string> {
  const answer = parseJson(body.toString());
  const rows = isObject(answer) ? (list === undefined ? [answer] : answer[list]) : [];
  const objects = Array.isArray(rows) ? rows.filter(isObject) : [];
  await Promise.all(objects.map((row) => (step.made ? handOut : show)(row as Row, step, levels)));
  return printJson(answer);
}
