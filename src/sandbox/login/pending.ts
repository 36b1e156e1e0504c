/** Questions that wait for a user's answer on the consent page. */

import { randomBytes } from "node:crypto";
import type { Clock } from "../clock.ts";

/** An application asks to be let in. */
export interface SignInRequest {
  readonly client: string;
  readonly scopes: readonly string[];
  /** Where the answer goes. */
  readonly target: string;
  /** As it came, still encoded. */
  readonly state: string | undefined;
}

/** With the browser that it was put to, which alone may answer it. */
interface PendingSignIn {
  readonly question: SignInRequest;
  readonly browser: string;
  readonly ends: number;
}

const lifetimeMs = 600_000;
const maxPending = 1000;

export interface PendingSignIns {
  /** Gives the ticket with which the question is answered once. */
  add(question: SignInRequest, browser: string): string;
  /** Undefined where the ticket is unknown, was used, has ended, or is another browser's. */
  take(ticket: string, browser: string): SignInRequest | undefined;
}

export function createPendingSignIns(clock: Clock): PendingSignIns {
  const questions = new Map<string, PendingSignIn>();
  return {
    add(question, browser) {
      const ticket = randomBytes(32).toString("hex");
      const oldest = questions.size >= maxPending ? questions.keys().next().value : undefined;
      if (oldest !== undefined) questions.delete(oldest);
      questions.set(ticket, { question, browser, ends: clock.now() + lifetimeMs });
      return ticket;
    },
    take(ticket, browser) {
      const found = questions.get(ticket);
      if (!found || found.browser !== browser) return undefined;
      questions.delete(ticket);
      return found.ends > clock.now() ? found.question : undefined;
    },
  };
}
