import { make } from "../dom.js";
import { clientName, upstreamName } from "../names.js";

const QUIET_DAYS = 7;
const DAY_MS = 86_400_000;

/** Returns the state of a client's migration, from its share of native requests and the time of its last alpha call. */
export function readinessOf({ requests, native }, lastAlpha, now = Date.now()) {
  if (native === requests) return "ready";
  if (lastAlpha && now - Date.parse(lastAlpha) > QUIET_DAYS * DAY_MS) return native > 0 ? "ready" : "silent";
  return native > 0 ? "moving" : "not begun";
}

export const READINESS = {
  "not begun": `uses ${clientName} only`,
  moving: "uses both",
  ready: `uses ${upstreamName} only`,
  silent: `no calls for ${QUIET_DAYS} days, and never native`,
};

export const readinessTag = (name) =>
  make("span", { class: "tag", data: { readiness: name.replace(" ", "-") }, title: READINESS[name] }, name);

/** Returns the time of the last alpha call of each client, by fingerprint. */
export function lastAlphaCalls(routes) {
  const last = new Map();
  for (const { client, lane, last: moment } of routes)
    if (lane === "alpha" && !(last.get(client) > moment)) last.set(client, moment);
  return last;
}
