import { RECORDING } from "../../support/gateway.ts";
import { startListeningGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { startFront, type FrontName } from "./fronts.ts";
import { runScript, type ScriptResult } from "./run-script.ts";
import { SCHEMES, type Dialect, type Script } from "./script.ts";
import { SETTINGS } from "./settings.ts";

/** The result of a script behind a proxy. */
export interface ProxiedResult extends ScriptResult {
  /** Requests to v4 that were not valid HTTP. */
  readonly garbage: number;
}

interface Job {
  readonly script: Script;
  readonly dialect: Dialect;
  readonly report: (seen: ProxiedResult) => void;
}

/** Scripts that run at once. Most of their time is spent waiting for bytes that must not come. */
const AT_ONCE = 8;

/** Runs one job after the other, with its own v4, gateway and proxy. */
async function doJobs(name: FrontName, jobs: Job[]): Promise<void> {
  const gateway = await startListeningGatewayWithFakeV4({ ...RECORDING, ...SETTINGS });
  try {
    const front = await startFront(name, gateway.url);
    try {
      for (let job = jobs.shift(); job; job = jobs.shift()) {
        const before = gateway.v4.countMalformedRequests();
        const seen = await runScript(job.script, job.dialect, { gateway, address: front.address });
        job.report({ ...seen, garbage: gateway.v4.countMalformedRequests() - before });
      }
    } finally {
      await front.stop();
    }
  } finally {
    await gateway.stop();
  }
}

/** Runs all scripts in both dialects behind a proxy. @throws {Error} if one could not run, after all have ended. */
export async function runBehind(
  name: FrontName,
  scripts: readonly Script[],
): Promise<ReadonlyMap<Script, Readonly<Record<Dialect, ProxiedResult>>>> {
  const all = new Map(scripts.map((script) => [script, {} as Record<Dialect, ProxiedResult>]));
  const jobs = [...all].flatMap(([script, seen]) =>
    (Object.keys(SCHEMES) as Dialect[]).map((dialect): Job => ({
      script,
      dialect,
      report: (result) => void (seen[dialect] = result),
    })),
  );
  const done = await Promise.allSettled(Array.from({ length: AT_ONCE }, () => doJobs(name, jobs)));
  for (const end of done) if (end.status === "rejected") throw end.reason;
  return all;
}
