import { AuditUnavailable } from "../audit/store.ts";
import { writeErrors, type ErrorNames } from "../dialect/errors.ts";
import { printJson } from "../dialect/json.ts";
import { Refusal, type Fault } from "../dialect/refusal.ts";
import { UpstreamFault } from "../upstream/fault.ts";
import { StateUnavailable } from "../shared-state/keyed-store.ts";
import { GrantUnavailable } from "../tokens/grants.ts";
import { ExpressionError } from "../expression/index.ts";
import { UnusablePathValue } from "../mapping/endpoint.ts";
import { UnreadableAnswer } from "./answer-back.ts";
import type { Notes } from "./exchange.ts";

/** A failure as the client is told of it, and whether it is one that nobody foresaw. */
export interface Refused {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
  readonly unforeseen: boolean;
}

/** Failures that the road knows; what they say is for the log. */
const FORESEEN = [
  UpstreamFault,
  UnreadableAnswer,
  UnusablePathValue,
  ExpressionError,
  GrantUnavailable,
  StateUnavailable,
  AuditUnavailable,
];

/**
 * The one place where a failure becomes an answer. Only the gateway's own refusals show their words; all else
 * is one neutral sentence with the request's id, under which the log and the audit record say what happened.
 */
export function refuse(error: unknown, id: string, notes: Notes, names: ErrorNames): Refused {
  if (error instanceof Refusal) {
    return { status: error.status, body: printJson(writeErrors(error.faults, names)), unforeseen: false };
  }
  const foreseen = FORESEEN.some((kind) => error instanceof kind);
  // An upstream fault was noted where it happened, with the call.
  if (!(error instanceof UpstreamFault))
    notes.warnings.push(foreseen ? (error as Error).message : "an unforeseen error");
  const fault: Fault = { reason: `The service could not answer this request (${id}).` };
  return { status: 500, body: printJson(writeErrors([fault], names)), unforeseen: !foreseen };
}
