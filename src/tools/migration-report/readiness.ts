import type { Readiness } from "./model.ts";

/** A client that has not spoken alpha for so long is taken to be done with it. */
export const QUIET_DAYS = 7;

const DAY_MS = 86_400_000;

/** How far a client is, by what it spoke and how long ago it last spoke alpha. */
export function readinessOf(
  spoke: { readonly native: number; readonly lastAlpha: string | null },
  now: number,
): Readiness {
  if (spoke.lastAlpha === null) return "ready";
  const quiet = now - Date.parse(spoke.lastAlpha) > QUIET_DAYS * DAY_MS;
  if (spoke.native > 0) return quiet ? "ready" : "moving";
  return quiet ? "silent" : "not begun";
}

export const isDone = (readiness: Readiness): boolean => readiness === "ready" || readiness === "silent";

/** The same in words. */
export const READINESS: Readonly<Record<Readiness, string>> = {
  "not begun": "speaks alpha alone",
  moving: "speaks both dialects",
  ready: "speaks v4 alone now",
  silent: `has not called for ${QUIET_DAYS} days`,
};
