/**
 * What comparisons cost the clients of a gateway, whatever the old service does. One gateway compares and does not, in turns,
 * by its rollout file. Where the machine has several processors the gateway has the last one alone.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startChild, type Child } from "../child.ts";
import { startLoader, type Loader } from "../loader.ts";
import { AFTERMATH_MS } from "../measure.ts";
import { processCost } from "../process-cost.ts";
import { median } from "../report.ts";
import { startGateway, withChildren } from "../targets.ts";

/** Requests a second. */
const RATE = 200;
const COMPARISONS = 20;
/** Pairs of rounds, one of which compares. */
const ROUNDS = Number(process.env["PARITY_ROUNDS"] ?? 11);
const ROUND_MS = Number(process.env["PARITY_ROUND_MS"] ?? 8000);
const WARM_UP_MS = 10_000;
/** A gateway looks each two seconds whether its file has changed. */
const RELOAD_MS = 3000;

const LISTENING = /^Listening (\S+)/m;
const PATH = "/v4/vm/instances";

/** What comparisons add, as medians of all pairs of rounds. */
export interface LiveCost {
  readonly oldService: string;
  /** Milliseconds. */
  readonly p99: number;
  /** The middle half of the pairs. */
  readonly p99Range: readonly [from: number, to: number];
  /** In per cent of a core. */
  readonly cpu: number;
  /** Most bytes of a round that compares, above those before the first one. */
  readonly memory: number;
}

const MODES = ["answers", "after 5 s", "hangs", "resets", "10 MB", "queue full"] as const;

const MOST_P99_MS = 1;
const MOST_MEMORY = 64 * 1024 ** 2;
const MOST_CPU = 1;
export const GOALS = `p99 at most ${MOST_P99_MS} ms more, CPU ${MOST_CPU} % (but for a full queue), memory 64 MB`;

/** The goals that a result misses. */
export const missesOf = ({ oldService, p99, cpu, memory }: LiveCost): string[] => [
  ...(p99 > MOST_P99_MS ? [`old service ${oldService}: p99 ${p99.toFixed(2)} ms more`] : []),
  ...(memory > MOST_MEMORY ? [`old service ${oldService}: ${(memory / 1024 ** 2).toFixed(0)} MB more`] : []),
  ...(cpu > MOST_CPU && oldService !== "queue full"
    ? [`old service ${oldService}: ${cpu.toFixed(2)} % CPU`]
    : []),
];

/** Moves a process with all its threads to some processors. */
function pin(pid: number, processors: string): void {
  const { status, error } = spawnSync("taskset", ["-a", "-c", "-p", processors, String(pid)]);
  if (error || status !== 0) process.stdout.write("  without taskset: all processes share the processors\n");
}

const LAST = availableParallelism() - 1;

/** This process, and all that it starts from now on, leave the last processor to the gateway. */
const leaveRoom = (): void => (LAST > 0 ? pin(process.pid, LAST === 1 ? "0" : `0-${LAST - 1}`) : undefined);

interface Round {
  readonly p99: number;
  readonly cpu: number;
  readonly memory: number;
}

const isWell = (mode: string): boolean => mode === "answers" || mode === "queue full";

/** @param perSecond most comparisons of a gateway; 0: none */
const rolloutText = (perSecond: number): string =>
  `data: shared\nnew: all\ncompare: { share: ${perSecond === 0 ? "0%" : "100%"}, per_second: ${Math.max(1, perSecond)}, client_share: 100% }\n`;

/** A gateway in front of an old service, with its file. */
class Measured {
  readonly #gateway: Child;
  readonly #file: string;
  readonly #job: {
    readonly url: string;
    readonly path: string;
    readonly authorization: string;
    readonly connections: number;
  };
  readonly #loader: Loader;

  constructor(gateway: Child, file: string, authorization: string, loader: Loader) {
    this.#gateway = gateway;
    this.#file = file;
    this.#job = { url: gateway.url, path: PATH, authorization, connections: 16 };
    this.#loader = loader;
  }

  async compare(perSecond: number): Promise<void> {
    writeFileSync(this.#file, rolloutText(perSecond));
    await wait(RELOAD_MS);
  }

  async measure(ms = ROUND_MS): Promise<Round> {
    const before = processCost(this.#gateway.pid);
    const { p99, failed, fault, seconds } = await this.#loader.run({ ...this.#job, ms, rate: RATE });
    if (failed > 0) throw new Error(`${failed} requests failed: ${fault}`);
    await wait(AFTERMATH_MS);
    const after = processCost(this.#gateway.pid);
    return {
      p99,
      cpu: before && after ? (after.cpu - before.cpu) / 1e4 / seconds : Number.NaN,
      memory: after?.memory ?? Number.NaN,
    };
  }
}

async function measureMode(measured: Measured, mode: string): Promise<LiveCost> {
  const perSecond = mode === "queue full" ? 1000 : COMPARISONS;
  // Code that compares is compiled before it is measured.
  await measured.compare(perSecond);
  await measured.measure(WARM_UP_MS);
  await measured.compare(0);
  const before = await measured.measure(WARM_UP_MS);
  const rounds: { readonly plain: Round; readonly comparing: Round }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // Each second pair the other way round: what drifts on the machine cancels.
    const order = round % 2 === 0 ? [0, perSecond] : [perSecond, 0];
    const found = new Map<number, Round>();
    for (const each of order) {
      await measured.compare(each);
      found.set(each, await measured.measure());
    }
    rounds.push({ plain: found.get(0) ?? before, comparing: found.get(perSecond) ?? before });
  }
  const added = (member: "p99" | "cpu"): number[] =>
    rounds
      .map(({ plain, comparing }) => comparing[member] - plain[member])
      .toSorted((one, other) => one - other);
  const p99s = added("p99");
  const quarter = Math.floor(p99s.length / 4);
  return {
    oldService: mode,
    p99: median(p99s),
    p99Range: [p99s[quarter] ?? Number.NaN, p99s.at(-1 - quarter) ?? Number.NaN],
    cpu: median(added("cpu")),
    memory: Math.max(...rounds.map(({ comparing }) => comparing.memory)) - before.memory,
  };
}

/** Measures a gateway in front of each old service. @param onResult is called with each result */
export const measureLiveCosts = (onResult: (cost: LiveCost) => void): Promise<void> =>
  withChildren(async (keep, folder) => {
    leaveRoom();
    const loader = startLoader();
    try {
      const v4 = await keep(startChild({ script: "parity/v4-service.ts", ready: LISTENING }));
      const authorization = `token ${/^Token (\S+)/m.exec(v4.printed)?.[1]}`;
      const shared = { upstream: v4, audit: "metadata", built: true } as const;
      const well = await keep(startGateway({ ...shared, folder: join(folder, "old") }));
      for (const [index, mode] of MODES.entries()) {
        const old = isWell(mode)
          ? well
          : await keep(startChild({ script: "parity/old-service.ts", args: [mode], ready: LISTENING }));
        const file = join(folder, `${index}.yaml`);
        writeFileSync(file, rolloutText(0));
        const env = { LEGACY_URL: old.url, ROLLOUT_FILE: file };
        const gateway = await keep(startGateway({ ...shared, folder: join(folder, String(index)), env }));
        pin(gateway.pid, String(LAST));
        onResult(await measureMode(new Measured(gateway, file, authorization, loader), mode));
        await gateway.stop();
      }
    } finally {
      loader.stop();
    }
  });
