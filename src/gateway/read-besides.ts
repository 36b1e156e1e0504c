import type { Incoming } from "./call-v4.ts";
import { plainCall, type Work } from "./work.ts";

/** The reads besides the call, in parallel. One that fails costs its fields, not the answer (translation 1.3). */
export async function readBesides(
  answer: Incoming,
  { target, call, notes }: Work,
): Promise<Record<string, unknown>> {
  const { route, parameters } = target;
  if (route.with.length === 0) return {};
  const needed = await Promise.all(
    route.with.map(async (read) => ({ read, wanted: await read.needed(answer.json) })),
  );
  const found = await Promise.all(
    needed.map(async ({ read, wanted }) => {
      if (!wanted) return [];
      const extra = await call(plainCall(read.endpoint, parameters)).catch(() => undefined);
      if (extra?.success && extra.json !== undefined) return [[read.name, extra.json] as const];
      notes.losses.add(`${read.name}: v4 did not give it`);
      return [];
    }),
  );
  return Object.fromEntries(found.flat());
}
