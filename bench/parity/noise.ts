/** Services that change by themselves: what a comparison must not take for a difference. */
import { parseJson } from "../../src/base/json/parse.ts";
import type { Upstream } from "../../src/gateway/upstream/http-call.ts";
import { START, type ClientRequest, type Service } from "./services.ts";

/** Time that only the program moves. In milliseconds since the start. */
export interface Clock {
  elapsed: number;
}

/** A random number from 0 to 1, the same in each run. */
export type Random = () => number;

/** Creates a random generator (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Row = Record<string, unknown>;

const GIGABYTE = 1_073_741_824;

const hex = (random: Random, length: number): string =>
  Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join("");

/** What v4 has another value for each time: times, counters and random texts. */
function changes(clock: Clock, random: Random): readonly (readonly [RegExp, (row: Row) => void])[] {
  const now = (jitter = 0): string =>
    new Date(START + clock.elapsed + (random() - 0.5) * jitter).toISOString().slice(0, 19);
  return [
    [/^\/v4\/vm\/instances(?:\/\d+)?(?:\?|$)/, (row) => (row["updated"] = now())],
    [/\/transfer$/, (row) => (row["used"] = GIGABYTE * (1000 + clock.elapsed / 1000))],
    [/^\/v4\/support\/tickets(?:\/\d+)?(?:\?|$)/, (row) => (row["updated"] = now(60_000))],
    [
      /^\/v4\/account\/events/,
      (row) => row["status"] === "started" && (row["percent_complete"] = Math.floor(random() * 101)),
    ],
    [/^\/v4\/account$/, (row) => (row["balance"] = Math.round(random() * 10_000) / 100)],
    [/^\/v4\/vm\/stackscripts/, (row) => (row["deployments_active"] = 300 + Math.floor(random() * 20))],
    [
      /^\/v4\/nodebalancers(?:\/\d+)?(?:\?|$)/,
      (row) => (row["client_conn_throttle"] = Math.floor(random() * 21)),
    ],
    [/^\/v4\/profile$/, (row) => (((row["referrals"] as Row | undefined) ??= {})["code"] = hex(random, 40))],
  ];
}

/** v4 with values that are other ones with each request. */
export function withChanges(v4: Upstream, clock: Clock, random: Random): Upstream {
  const rules = changes(clock, random);
  return {
    ...v4,
    async call(request) {
      const response = await v4.call(request);
      const found = response.status === 200 && rules.find(([path]) => path.test(request.path));
      if (!found) return response;
      const body = parseJson(response.bytes.toString()) as Row;
      const rows = Array.isArray(body["data"]) ? (body["data"] as Row[]) : [body];
      for (const row of rows) found[1](row);
      return { ...response, bytes: Buffer.from(JSON.stringify(body)) };
    },
  };
}

function shuffle(rows: unknown[], random: Random): void {
  for (let index = rows.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    [rows[index], rows[other]] = [rows[other], rows[index]];
  }
}

/** Adds `by` to a number of each object that has it, in a share of all cases. */
function round(value: unknown, name: string, share: number, random: Random): void {
  if (Array.isArray(value)) for (const item of value) round(item, name, share, random);
  else if (typeof value === "object" && value !== null) {
    const row = value as Row;
    if (typeof row[name] === "number" && random() < share) row[name] += 1;
    for (const member of Object.values(row)) round(member, name, share, random);
  }
}

/**
 * The old service: rows in a random order where nobody asked for one, prices that are rounded up or down, and a size that
 * is one more in two of a hundred answers.
 */
export function withOldHabits(service: Service, random: Random): Service {
  return async (request: ClientRequest) => {
    const answer = await service(request);
    if (answer.status !== 200) return answer;
    const body = parseJson(answer.body.toString()) as Row;
    const isOrdered = request.filter?.includes("order") ?? false;
    for (const member of Object.values(body))
      if (Array.isArray(member) && !isOrdered) shuffle(member, random);
    round(body, "hourly_price", 0.5, random);
    round(body, "minimum_storage_size", 0.02, random);
    return { ...answer, body: Buffer.from(JSON.stringify(body)) };
  };
}
