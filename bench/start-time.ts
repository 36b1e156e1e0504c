import type { BenchOptions } from "./options.ts";
import { median } from "./report.ts";
import { startGateway, startUpstream, withChildren } from "./targets.ts";

/** From the start of the process until it says that it is ready, the catalogs read: one line. */
export function startTimes({ starts, built }: BenchOptions): Promise<string> {
  return withChildren(async (keep, folder) => {
    const upstream = await keep(startUpstream());
    const times: number[] = [];
    for (let start = 0; start < starts; start += 1) {
      const begun = performance.now();
      const gateway = await keep(startGateway({ upstream, audit: "metadata", folder, built }));
      times.push(performance.now() - begun);
      await gateway.stop();
    }
    return `Time to ready: ${median(times).toFixed(0)} ms (median of ${starts}).`;
  });
}
