/** The gateway could not be reached at all. */
export class Gone extends Error {}

const listeners = new Set();

/** Is told with every answer whether the gateway could be reached. */
export const onReach = (listener) => void listeners.add(listener);

const tell = (reached) => listeners.forEach((listener) => listener(reached));

async function ask(path, signal) {
  try {
    const response = await fetch(path, { headers: { Accept: "application/json" }, signal });
    tell(true);
    return response;
  } catch (error) {
    if (signal?.aborted) throw error;
    tell(false);
    throw new Gone("The gateway does not answer.");
  }
}

const reasons = (body) =>
  (body?.errors ?? [])
    .map(({ parameter, reason }) => (parameter ? `${parameter}: ${reason}` : reason))
    .join(" ");

/** Reads JSON. @throws {Gone}, {Error} with the reasons that the gateway names and its `status`. */
export async function read(path, signal) {
  const response = await ask(path, signal);
  // The session has ended: the page itself is the way to the sign-in form.
  if (response.status === 401) location.reload();
  const body = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body;
  const error = new Error(reasons(body) || `The gateway answered ${response.status}.`);
  throw Object.assign(error, { status: response.status });
}

/** Readiness, whatever its status. */
export const readHealth = async () => (await ask("/readyz")).json();

/** Repeats while the page is looked at, until the signal; one at a time. */
export function repeat(task, everyMs, signal) {
  const step = async () => {
    if (signal.aborted) return;
    if (!document.hidden) await task().catch(() => {});
    if (!signal.aborted) setTimeout(step, everyMs);
  };
  void step();
}
