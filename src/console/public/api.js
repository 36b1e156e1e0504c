/** The gateway can't be reached. */
export class Offline extends Error {}

const listeners = new Set();

/** Adds a listener that is called after every request, with whether the gateway was reached. */
export const onReach = (listener) => void listeners.add(listener);

const notify = (reached) => listeners.forEach((listener) => listener(reached));

async function request(path, signal, options = {}) {
  try {
    const headers = { Accept: "application/json", ...options.headers };
    const response = await fetch(path, { ...options, headers, signal });
    notify(true);
    return response;
  } catch (error) {
    if (signal?.aborted) throw error;
    notify(false);
    throw new Offline("The gateway does not respond.");
  }
}

const reasons = (body) =>
  (body?.errors ?? [])
    .map(({ parameter, reason }) => (parameter ? `${parameter}: ${reason}` : reason))
    .join(" ");

/** Returns the JSON of a response. @throws {Error} with its reasons and its `status` */
async function jsonOf(response) {
  // The session has expired. After a reload, the gateway returns the sign-in form.
  if (response.status === 401) location.reload();
  const body = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body;
  const error = new Error(reasons(body) || `The gateway returned status ${response.status}.`);
  throw Object.assign(error, { status: response.status });
}

/** Reads JSON. @throws {Offline} If the gateway can't be reached. @throws {Error} With its reasons and its `status`. */
export const read = async (path, signal) => jsonOf(await request(path, signal));

/** Sends JSON, and reads the response. @throws As {@link read}. */
export const write = async (path, body) =>
  jsonOf(
    await request(path, undefined, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    }),
  );

/** Reads the readiness. Any status of the response is accepted. */
export const readHealth = async () => (await request("/readyz")).json();

/** Reads the metrics without labels: numbers by name. */
export async function readMetrics() {
  const text = await (await request("/metrics")).text();
  return Object.fromEntries(
    [...text.matchAll(/^([a-z_]+) (\S+)$/gm)].map(([, name, value]) => [name, Number(value)]),
  );
}

/** Returns the samples of a metric: their labels and values. */
function samplesOf(text, metric) {
  const lines = text.matchAll(new RegExp(`^${metric}\\{(.*)\\} (\\S+)$`, "gm"));
  return [...lines].map(([, labels, value]) => ({
    labels: Object.fromEntries(
      [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, label]) => [name, label]),
    ),
    value: Number(value),
  }));
}

/** Reads the mean milliseconds of each pipeline stage, by route, since the gateway was started. */
export async function readStages(signal) {
  const text = await (await request("/metrics", signal)).text();
  const requests = new Map();
  for (const { labels, value } of samplesOf(text, "alpha_gateway_requests_total"))
    if (labels.lane !== "native") requests.set(labels.route, (requests.get(labels.route) ?? 0) + value);
  const stages = new Map();
  for (const { labels, value } of samplesOf(text, "alpha_gateway_route_stage_seconds_total")) {
    const mean = { stage: labels.stage, ms: (value * 1000) / (requests.get(labels.route) || 1) };
    stages.set(labels.route, [...(stages.get(labels.route) ?? []), mean]);
  }
  return stages;
}

/** Repeats a task until the signal aborts, one run at a time, while the page is visible. */
export function repeat(task, everyMs, signal) {
  const step = async () => {
    if (signal.aborted) return;
    if (!document.hidden) await task().catch(() => {});
    if (!signal.aborted) setTimeout(() => void step(), everyMs);
  };
  void step();
}
