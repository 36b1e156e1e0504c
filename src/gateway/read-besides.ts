import { UnusablePathValue } from "../mapping/endpoint.ts";
import type { ExtraRead } from "../mapping/route-steps.ts";
import type { Incoming } from "./call-v4.ts";
import { everyPage } from "./every-page.ts";
import { inParallel } from "./in-parallel.ts";
import { plainCall, type Prepared, type Work } from "./work.ts";

/** What a list that is read for some fields may have at most; a longer one is as good as unread. */
const MOST_ROWS = 1000;

const jsonOf = (answer: Incoming | undefined): unknown => (answer?.success ? answer.json : undefined);

/** v4's answer to an extra read; undefined where it is no success, no JSON, or can't be asked for. */
async function valueAt(read: ExtraRead, values: object, work: Work): Promise<unknown> {
  const { call, target, kept, owner, notes } = work;
  const prepared = plainCall(read.endpoint, { ...target.parameters, ...values });
  const ask = () => call(prepared).catch(() => undefined);
  if (read.keep === 0 || owner === undefined) return jsonOf(await ask());
  const own = kept.of(owner);
  const before = own.get(prepared.path);
  if (before !== undefined) {
    notes.keptHits += 1;
    return before;
  }
  notes.keptMisses += 1;
  const extra = await ask();
  const value = jsonOf(extra);
  if (value !== undefined) own.keep(prepared.path, value, extra?.text.length ?? 0, read.keep);
  return value;
}

async function rowsOf({ endpoint }: ExtraRead, work: Work): Promise<unknown> {
  const whole = await everyPage(plainCall(endpoint, work.target.parameters), MOST_ROWS, work).catch(
    () => undefined,
  );
  return whole && "rows" in whole ? whole.rows : undefined;
}

/** One read for each value of the body that was sent; what can't be read is left out. */
async function each(
  read: ExtraRead,
  valuesIn: NonNullable<ExtraRead["each"]>,
  { body = {} }: Prepared,
  work: Work,
): Promise<unknown[]> {
  const values = [(await valuesIn(body)) ?? []].flat();
  const found = await inParallel(values, (value) =>
    valueAt(read, { each: value }, work).catch((error: unknown) => {
      if (error instanceof UnusablePathValue) return undefined;
      throw error;
    }),
  );
  if (found.includes(undefined)) work.notes.losses.add(`${read.name}: v4 did not give all`);
  return found.filter((value) => value !== undefined);
}

/** The reads besides the call, in parallel. One that fails costs its fields, not the answer (translation 1.3). */
export async function readBesides(
  answer: Incoming,
  prepared: Prepared,
  work: Work,
): Promise<Record<string, unknown>> {
  const { route } = work.target;
  if (route.with.length === 0) return {};
  const found = await Promise.all(
    route.with.map(async (read) => {
      if (!(await read.needed(answer.json))) return [];
      if (read.each) return [[read.name, await each(read, read.each, prepared, work)] as const];
      const value = await (read.all ? rowsOf(read, work) : valueAt(read, {}, work));
      if (value !== undefined) return [[read.name, value] as const];
      work.notes.losses.add(`${read.name}: v4 did not give it`);
      return [];
    }),
  );
  return Object.fromEntries(found.flat());
}
