/** Faults of the connection to a store, and the expected statuses: data of the suites and of their page. */
import { delayBy, resetAfter, respondWith, readOnly, type Fault } from "../../support/fault-proxy.ts";

export interface StoreFault {
  readonly name: string;
  readonly fault: Fault | "refuse";
  /** The statuses with a faulty connection to Redis. */
  readonly redis: { readonly request: number; readonly signIn: number; readonly ready: 200 | 503 };
  /** The statuses with a faulty connection to PostgreSQL, with relaxed and with strict durability. */
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

/** The beginning of a message of PostgreSQL. Redis has no such message. */
const GARBAGE = "R\u0000\u0000\u0000\u0008SSH-2.0\r\n";

export const STORE_FAULTS: readonly StoreFault[] = [
  { name: "refuses connections", fault: "refuse", ...away },
  { name: "accepts connections and sends nothing", fault: readOnly, ...away },
  { name: "resets connections", fault: respondWith("", "reset"), ...away },
  { name: "resets in the middle of a response", fault: resetAfter(300), ...away },
  { name: "sends garbage", fault: respondWith(GARBAGE, "wait"), ...away },
  { name: "responds after 100 ms each time", fault: delayBy(100), ...fine },
];
