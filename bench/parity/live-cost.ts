/** What comparisons cost the clients of a gateway, whatever the old service does. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startChild, type Child } from "../child.ts";
import type { Loader } from "../loader.ts";
import { AFTERMATH_MS } from "../measure.ts";
import { processCost } from "../process-cost.ts";
import { median } from "../report.ts";
import { startGateway, withChildren } from "../targets.ts";

/** Requests a second. */
const RATE = 200;
const COMPARISONS = 20;
const ROUNDS = 5;
const ROUND_MS = 5000;
const WARM_UP_MS = 3000;

const LISTENING = /^Listening (\S+)/m;

/** What comparisons add, as medians of all rounds. */
export interface LiveCost {
  readonly oldService: string;
  /** Milliseconds. */
  readonly p99: number;
  /** In per cent of a core. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
}

const MODES = ["answers", "after 5 s", "hangs", "resets", "10 MB", "queue full"] as const;

/** @param perSecond most comparisons of a gateway; 0: none */
const rolloutText = (perSecond: number): string =>
  `data: shared\nnew: all\ncompare: { share: ${perSecond === 0 ? "0%" : "100%"}, per_second: ${Math.max(1, perSecond)}, client_share: 100% }\n`;

interface Round {
  readonly p99: number;
  readonly cpu: number;
  readonly memory: number;
}

async function measureRound(gateway: Child, authorization: string, loader: Loader): Promise<Round> {
  const before = processCost(gateway.pid);
  const job = { url: gateway.url, path: "/v4/vm/instances", authorization, connections: 16, ms: ROUND_MS };
  const { p99, failed, fault } = await loader.run({ ...job, rate: RATE });
  if (failed > 0) throw new Error(`${failed} requests failed: ${fault}`);
  await wait(AFTERMATH_MS);
  const after = processCost(gateway.pid);
  return {
    p99,
    cpu: before && after ? (after.cpu - before.cpu) / 1e6 / (ROUND_MS / 1000) : Number.NaN,
    memory: after?.memory ?? Number.NaN,
  };
}

/** Measures two gateways in turns, of which one compares. */
export const measureLiveCosts = (loader: Loader): Promise<LiveCost[]> =>
  withChildren(async (keep, folder) => {
    const v4 = await keep(startChild({ script: "parity/v4-service.ts", ready: LISTENING }));
    const authorization = `token ${/^Token (\S+)/m.exec(v4.printed)?.[1]}`;
    const start = (name: string, env: Readonly<Record<string, string>>): Promise<Child> =>
      keep(startGateway({ upstream: v4, audit: "metadata", folder: join(folder, name), built: false, env }));
    const withRollout = (name: string, legacyUrl: string, perSecond: number): Promise<Child> => {
      const file = join(folder, `${name}.yaml`);
      writeFileSync(file, rolloutText(perSecond));
      return start(name, { LEGACY_URL: legacyUrl, ROLLOUT_FILE: file });
    };
    const well = await start("old", {});
    const costs: LiveCost[] = [];
    for (const [index, mode] of MODES.entries()) {
      const isWell = mode === "answers" || mode === "queue full";
      const old = isWell
        ? well
        : await keep(startChild({ script: "parity/old-service.ts", args: [mode], ready: LISTENING }));
      const perSecond = mode === "queue full" ? 1000 : COMPARISONS;
      const without = await withRollout(`without-${index}`, old.url, 0);
      const comparing = await withRollout(`with-${index}`, old.url, perSecond);
      for (const { url } of [without, comparing])
        await loader.run({
          url,
          path: "/v4/vm/instances",
          authorization,
          connections: 16,
          ms: WARM_UP_MS,
          rate: RATE,
        });
      const rounds: (readonly [Round, Round])[] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        rounds.push([
          await measureRound(without, authorization, loader),
          await measureRound(comparing, authorization, loader),
        ]);
      const added = (member: keyof Round): number =>
        median(rounds.map(([plain, compared]) => compared[member] - plain[member]));
      costs.push({ oldService: mode, p99: added("p99"), cpu: added("cpu") * 100, memory: added("memory") });
      await Promise.all([without.stop(), comparing.stop()]);
    }
    return costs;
  });
