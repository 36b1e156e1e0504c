import { setTimeout as wait } from "node:timers/promises";
import type { Child } from "./child.ts";
import type { Loader } from "./loader.ts";
import { AFTERMATH_MS } from "./measure.ts";
import type { BenchOptions } from "./options.ts";
import { processCost } from "./process-cost.ts";
import { median } from "./report.ts";
import { ALPHA, startGateway, startUpstream, withChildren } from "./targets.ts";

const MEBI = 1024 * 1024;

/** CPU microseconds of a request for a list. */
async function costOf(
  gateway: Child,
  loader: Loader,
  load: { readonly ms: number; readonly requests?: number },
): Promise<number> {
  const before = processCost(gateway.pid);
  const job = { url: gateway.url, path: "/v4/vm/instances", authorization: ALPHA, connections: 16 };
  const { requests } = await loader.run({ ...job, ...load });
  await wait(AFTERMATH_MS);
  const after = processCost(gateway.pid);
  return before && after ? (after.cpu - before.cpu) / requests : Number.NaN;
}

/**
 * Measures the time from the start of the process until it reports ready, with its catalogs read; the memory that it has then,
 * and some time later; and what its first requests cost, and the first ones after a pause, compared with those after the warm-up.
 */
export function startTimes(
  loader: Loader,
  { starts, firstRequests, built, warmUpMs, measureMs, idleMs }: BenchOptions,
): Promise<string> {
  return withChildren(async (keep, folder) => {
    const upstream = await keep(startUpstream());
    const [times, memory, first, ratios, resumed]: number[][] = [[], [], [], [], []];
    for (let start = 0; start < starts; start += 1) {
      const begun = performance.now();
      const gateway = await keep(startGateway({ upstream, audit: "metadata", folder, built }));
      times?.push(performance.now() - begun);
      memory?.push((processCost(gateway.pid)?.memory ?? Number.NaN) / MEBI);
      const cost = await costOf(gateway, loader, { ms: 60_000, requests: firstRequests });
      await costOf(gateway, loader, { ms: warmUpMs });
      first?.push(cost);
      const steady = await costOf(gateway, loader, { ms: measureMs });
      ratios?.push(cost / steady);
      await wait(idleMs);
      resumed?.push((await costOf(gateway, loader, { ms: 60_000, requests: firstRequests })) / steady);
      await gateway.stop();
    }
    const unused = await keep(startGateway({ upstream, audit: "metadata", folder, built }));
    await wait(idleMs);
    const idle = (processCost(unused.pid)?.memory ?? Number.NaN) / MEBI;
    const of = (values: readonly number[] = [], digits = 0): string => median(values).toFixed(digits);
    return [
      `Time to ready: ${of(times)} ms (median of ${starts}). Resident then: ${of(memory)} MB,`,
      `and ${idle.toFixed(0)} MB after ${idleMs / 1000} s without requests.`,
      `First ${firstRequests} lists: ${of(first)} us, ${of(ratios, 2)} x the cost after the warm-up.`,
      `The first after ${idleMs / 1000} s without requests: ${of(resumed, 2)} x.`,
    ].join("\n");
  });
}
