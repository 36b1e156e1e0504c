import { startListeningGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { startFront, type FrontName } from "./fronts.ts";
import { runScript, type ScriptResult } from "./run-script.ts";
import { SCHEMES, type Scheme, type Script } from "./script.ts";
import { SETTINGS } from "./settings.ts";

/** What came of a script behind a proxy. */
export interface ProxiedResult extends ScriptResult {
  /** How often v4 was sent something that is no HTTP. */
  readonly garbage: number;
}

interface Job {
  readonly script: Script;
  readonly lane: Scheme;
  readonly tell: (seen: ProxiedResult) => void;
}

/** Nearly all of a script's time is waiting for what must not come: this many wait at once. */
const AT_ONCE = 8;

/** Does one job after the other, with a v4, a gateway and a proxy that nobody else uses. */
async function doJobs(name: FrontName, jobs: Job[]): Promise<void> {
  const gateway = await startListeningGatewayWithFakeV4(SETTINGS);
  try {
    const front = await startFront(name, gateway.url);
    try {
      for (let job = jobs.shift(); job; job = jobs.shift()) {
        const before = gateway.v4.countMalformedRequests();
        const seen = await runScript(job.script, job.lane, { gateway, address: front.address });
        job.tell({ ...seen, garbage: gateway.v4.countMalformedRequests() - before });
      }
    } finally {
      await front.stop();
    }
  } finally {
    await gateway.stop();
  }
}

/** Runs all scripts in both dialects behind a proxy. @throws when one can't be run, once the others are over. */
export async function runBehind(
  name: FrontName,
  scripts: readonly Script[],
): Promise<ReadonlyMap<Script, Readonly<Record<Scheme, ProxiedResult>>>> {
  const all = new Map(scripts.map((script) => [script, {} as Record<Scheme, ProxiedResult>]));
  const jobs = [...all].flatMap(([script, seen]) =>
    (Object.keys(SCHEMES) as Scheme[]).map((lane): Job => ({
      script,
      lane,
      tell: (result) => void (seen[lane] = result),
    })),
  );
  const done = await Promise.allSettled(Array.from({ length: AT_ONCE }, () => doJobs(name, jobs)));
  for (const end of done) if (end.status === "rejected") throw end.reason;
  return all;
}
