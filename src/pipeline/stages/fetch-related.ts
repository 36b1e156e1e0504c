import pMap from "p-map";
import { UnusablePathValue } from "../../mapping/compile/endpoint.ts";
import type { RelatedRequest } from "../../mapping/compile/route-steps.ts";
import type { UpstreamResponse } from "./call-upstream.ts";
import { fetchAllPages } from "./fetch-all-pages.ts";
import {
  MAX_CONCURRENT_REQUESTS,
  requestWithoutBody,
  type PreparedRequest,
  type RouteExecution,
} from "../route-context.ts";

/** What a list that is read for some fields may have at most; a longer one is as good as unread. */
const MOST_ROWS = 1000;

const jsonOf = (answer: UpstreamResponse | undefined): unknown => (answer?.success ? answer.json : undefined);

/** v4's answer to an extra read; undefined where it is no success, no JSON, or can't be asked for. */
async function valueAt(read: RelatedRequest, values: object, work: RouteExecution): Promise<unknown> {
  const { call, match: target, cache: kept, tokenHash: owner, context: notes } = work;
  const prepared = requestWithoutBody(read.endpoint, { ...target.parameters, ...values });
  const ask = () => call(prepared).catch(() => undefined);
  if (read.cacheSeconds === 0 || owner === undefined) return jsonOf(await ask());
  const own = kept.of(owner);
  const before = own.get(prepared.path);
  if (before !== undefined) {
    notes.cacheHits += 1;
    return before;
  }
  notes.cacheMisses += 1;
  const extra = await ask();
  const value = jsonOf(extra);
  if (value !== undefined) own.keep(prepared.path, value, extra?.text.length ?? 0, read.cacheSeconds);
  return value;
}

async function rowsOf({ endpoint }: RelatedRequest, work: RouteExecution): Promise<unknown> {
  const whole = await fetchAllPages(
    requestWithoutBody(endpoint, work.match.parameters),
    MOST_ROWS,
    work,
  ).catch(() => undefined);
  return whole && "rows" in whole ? whole.rows : undefined;
}

/** One read for each value of the body that was sent; what can't be read is left out. */
async function each(
  read: RelatedRequest,
  valuesIn: NonNullable<RelatedRequest["eachValue"]>,
  { body = {} }: PreparedRequest,
  work: RouteExecution,
): Promise<unknown[]> {
  const values = [(await valuesIn(body)) ?? []].flat();
  const found = await pMap(
    values,
    (value) =>
      valueAt(read, { each: value }, work).catch((error: unknown) => {
        if (error instanceof UnusablePathValue) return undefined;
        throw error;
      }),
    { concurrency: MAX_CONCURRENT_REQUESTS },
  );
  if (found.includes(undefined)) work.context.losses.add(`${read.name}: v4 did not give all`);
  return found.filter((value) => value !== undefined);
}

/** The reads besides the call, in parallel. One that fails costs its fields, not the answer (translation 1.3). */
export async function fetchRelated(
  answer: UpstreamResponse,
  prepared: PreparedRequest,
  work: RouteExecution,
): Promise<Record<string, unknown>> {
  const { route } = work.match;
  if (route.related.length === 0) return {};
  const found = await Promise.all(
    route.related.map(async (read) => {
      if (!(await read.isNeeded(answer.json))) return [];
      if (read.eachValue) return [[read.name, await each(read, read.eachValue, prepared, work)] as const];
      const value = await (read.allPages ? rowsOf(read, work) : valueAt(read, {}, work));
      if (value !== undefined) return [[read.name, value] as const];
      work.context.losses.add(`${read.name}: v4 did not give it`);
      return [];
    }),
  );
  return Object.fromEntries(found.flat());
}
