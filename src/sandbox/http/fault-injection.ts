/**
 * Faults on demand, for whoever tests what a client does about them: `X-Sandbox-Fault: 503`, `delay=1500`
 * (milliseconds, then the answer as always), `reset` (the connection ends without an answer), `garbage` (200
 * with a body that is no JSON), or several, separated by commas.
 */

import type { SandboxResponse } from "./pipeline.ts";

export const faultHeader = "x-sandbox-fault";

export interface InjectedFault {
  /** Milliseconds. */
  readonly delay?: number;
  readonly reset?: true;
  /** In place of the answer; what the request asked for is then not done. */
  readonly reply?: SandboxResponse;
}

/** A client that waits longer than this has no time-out to test. */
const maxDelayMs = 60_000;

export function readFault(header: string | string[] | undefined): InjectedFault {
  const words = header === undefined ? [] : String(header).split(",");
  return Object.assign({}, ...words.map((word) => parseFault(word.trim()))) as InjectedFault;
}

function parseFault(word: string): InjectedFault {
  const delay = /^delay=(\d{1,9})$/.exec(word)?.[1];
  if (delay !== undefined) return { delay: Math.min(Number(delay), maxDelayMs) };
  if (word === "reset") return { reset: true };
  if (word === "garbage") return { reply: reply(200, '{"data": [{"id": 52') };
  if (word === "503") return { reply: errorReply(503, "The service is not available") };
  return {
    reply: errorReply(400, "X-Sandbox-Fault is 503, delay=MILLISECONDS, reset or garbage, e.g. delay=1500"),
  };
}

function errorReply(status: number, reason: string): SandboxResponse {
  return reply(status, JSON.stringify({ errors: [{ reason }] }));
}

function reply(status: number, body: string): SandboxResponse {
  return { status, headers: { "Content-Type": "application/json" }, body };
}
