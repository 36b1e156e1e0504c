/** What can be wrong on the way to a store, and what is told then: data of the suites and of their page. */
import { delayBy, resetAfter, respondWith, readOnly, type Fault } from "../../support/fault-proxy.ts";

export interface StoreFault {
  readonly name: string;
  readonly fault: Fault | "refuse";
  /** Statuses where it is the way to Redis. */
  readonly redis: { readonly request: number; readonly signIn: number; readonly ready: 200 | 503 };
  /** Where it is the way to PostgreSQL: of a request whose record may come later, and of one whose record may not. */
  readonly postgres: { readonly relaxed: number; readonly strict: number; readonly ready: 200 | 503 };
}

const away: Pick<StoreFault, "redis" | "postgres"> = {
  redis: { request: 200, signIn: 500, ready: 503 },
  postgres: { relaxed: 200, strict: 500, ready: 503 },
};
const fine: typeof away = {
  redis: { request: 200, signIn: 302, ready: 200 },
  postgres: { relaxed: 200, strict: 200, ready: 200 },
};

/** Begins as a message of PostgreSQL's does; of Redis' there is none like it. */
const GARBAGE = "R\u0000\u0000\u0000\u0008SSH-2.0\r\n";

export const STORE_FAULTS: readonly StoreFault[] = [
  { name: "refuses connections", fault: "refuse", ...away },
  { name: "accepts connections and sends nothing", fault: readOnly, ...away },
  { name: "resets connections", fault: respondWith("", "reset"), ...away },
  { name: "resets in the middle of a response", fault: resetAfter(300), ...away },
  { name: "sends garbage", fault: respondWith(GARBAGE, "wait"), ...away },
  { name: "responds after 100 ms each time", fault: delayBy(100), ...fine },
];
