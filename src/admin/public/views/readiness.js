import { make } from "../dom.js";

const QUIET_DAYS = 7;
const DAY_MS = 86_400_000;

/** How far a client is: by what it spoke, and how long ago it last spoke alpha. */
export function readinessOf({ requests, native }, lastAlpha, now = Date.now()) {
  if (native === requests) return "ready";
  if (lastAlpha && now - Date.parse(lastAlpha) > QUIET_DAYS * DAY_MS) return native > 0 ? "ready" : "silent";
  return native > 0 ? "moving" : "not begun";
}

export const READINESS = {
  "not begun": "speaks alpha alone",
  moving: "speaks both",
  ready: "speaks v4 alone now",
  silent: `no alpha call for ${QUIET_DAYS} days, and none of v4`,
};

export const readinessTag = (name) =>
  make("span", { class: "tag", data: { readiness: name.replace(" ", "-") }, title: READINESS[name] }, name);

/** When each client last spoke alpha, by its fingerprint. */
export function lastAlphaCalls(routes) {
  const last = new Map();
  for (const { client, lane, last: moment } of routes)
    if (lane === "alpha" && !(last.get(client) > moment)) last.set(client, moment);
  return last;
}
