/** Responses of a service that is called once for each of many ids, or whose operations take a while. */
import { json, type Responder } from "./fake-v4.ts";

/** How a call to a job is repeated. */
export const REPEAT = {
  until: 'state = "done"',
  failed: { when: 'state = "failed"' },
  interval_ms: 50,
  timeout_ms: 5000,
};

/** The call of a route whose operations are jobs. */
export const JOB = { upstream: "GET /jobs/{response.job}", status: 202, repeat: REPEAT, answer: true };

/** The job of an operation that was accepted. */
export const accepted = json(202, { job: 7 });
/** The same, which is to be asked for after any deadline of a test. */
export const acceptedForLater = json(202, { job: 7 }, { "retry-after": "60" });
export const running = json(200, { state: "running" });
export const done = json(200, { state: "done", id: 5, name: "Waves" });

/** The last part of a path. */
const idOf = (path: string): string => path.split("/").at(-1) ?? "";

/** Responds with the item that the path names. */
export const foundAs =
  (name: string): Responder =>
  (call, response) =>
    json(200, { id: Number(idOf(call.path)), name })(call, response);

export const found = foundAs("x");

/** Responds by the id in the path; other ids are found. */
export const byId =
  (responders: Readonly<Record<string, Responder>>): Responder =>
  (call, response) =>
    (responders[idOf(call.path)] ?? found)(call, response);
