import { callsStatement, callsValues, pastStatement, pastValues, type DecisionReader } from "../decisions.ts";
import type { Database } from "./database.ts";
import { readTokenPage } from "./read-usage.ts";

const SOURCE = {
  usage: "audit_usage",
  token: "audit_token",
  listed: (parameter: number): string => `(SELECT unnest($${parameter}::text[]))`,
  value: (parameter: number): string => `$${parameter}`,
};
const PAST = pastStatement(SOURCE);
const CALLS = callsStatement(SOURCE);

/** Creates the reader of what requests wait for. @param database One of its own */
export const decisionReader = (database: Pick<Database, "query">): DecisionReader => ({
  async wasServed(query) {
    const { clients, day, routes } = pastValues(query);
    const [row] = await database.query<{ found: boolean }>(PAST, [clients, day, routes]);
    return row?.found === true;
  },
  async callsOf(query) {
    const { clients, first, last, since, until } = callsValues(query);
    const [row] = await database.query<{ requests: string; calling: string }>(CALLS, [
      clients,
      first,
      last,
      since,
      until,
    ]);
    return { requests: Number(row?.requests), hasCalled: Number(row?.calling) > 0 };
  },
  tokenPage: (page) => readTokenPage(database, page),
});
