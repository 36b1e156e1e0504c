/**
 * What comparisons cost the clients of a gateway, whatever the old service does. One gateway compares and does not, in turns,
 * by its rollout file. Where the machine has several processors the gateway has the last one alone.
 */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startChild, type Child } from "../child.ts";
import { startLoader, type Loader } from "../loader.ts";
import { AFTERMATH_MS } from "../measure.ts";
import { processCost } from "../process-cost.ts";
import { median } from "../report.ts";
import { ALPHA, startGateway, startUpstream, withChildren } from "../targets.ts";

/** Requests a second. */
const RATE = 200;
const COMPARISONS = 20;
/** Pairs of rounds, one of which compares. */
const ROUNDS = Number(process.env["PARITY_ROUNDS"] ?? 11);
const ROUND_MS = Number(process.env["PARITY_ROUND_MS"] ?? 8000);
/**
 * What a round is measured by. A garbage collection, and whatever else stops the machine for a tenth of a second, would be
 * the p99 of a longer time, whether there are comparisons or not. Of short ones it is in a few.
 */
const WINDOW_MS = 2000;
const WINDOW = (WINDOW_MS / 1000) * RATE;
const WARM_UP_MS = 10_000;
/** A gateway looks each two seconds whether its file has changed. */
const RELOAD_MS = 3000;

const LISTENING = /^Listening (\S+)/m;
const PATH = "/v4/vm/instances";

/** What comparisons add. */
export interface LiveCost {
  readonly oldService: string;
  /** Milliseconds: median of the windows that compare, above that of the others. */
  readonly p99: number;
  /** Milliseconds: median of the windows that compare nothing. */
  readonly plainP99: number;
  /** In per cent of a core: median of the windows that compare, above that of the others. */
  readonly cpu: number;
  /** Most bytes after a round, above those of a gateway that has had as many requests and has compared none. */
  readonly memory: number;
}

const QUEUE_FULL = "queue full";
const MODES = ["after 1 ms", "after 5 s", "hangs", "resets", "10 MB", QUEUE_FULL] as const;
/** The service behind a full queue. */
const WELL = "after 1 ms";

const MOST_P99_MS = 1;
const MOST_MEMORY = 64 * 1024 ** 2;
const MOST_CPU = 1;
export const GOALS = `p99 at most ${MOST_P99_MS} ms more, CPU ${MOST_CPU} % (but for a full queue), memory 64 MB`;

/** The goals that a result misses. */
export const missesOf = ({ oldService, p99, cpu, memory }: LiveCost): string[] => [
  ...(p99 > MOST_P99_MS ? [`old service ${oldService}: p99 ${p99.toFixed(2)} ms more`] : []),
  ...(memory > MOST_MEMORY ? [`old service ${oldService}: ${(memory / 1024 ** 2).toFixed(0)} MB more`] : []),
  ...(cpu > MOST_CPU && oldService !== QUEUE_FULL
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
  /** Of each window. */
  readonly p99s: readonly number[];
  /** Of each window, in per cent. */
  readonly cpus: readonly number[];
  readonly memory: number;
}

/** @param times in the order of the responses */
const p99sOf = (times: readonly number[]): number[] =>
  Array.from({ length: Math.floor(times.length / WINDOW) }, (_, window) => {
    const sorted = times.slice(window * WINDOW, (window + 1) * WINDOW).toSorted((one, other) => one - other);
    return sorted[Math.floor(WINDOW * 0.99)] ?? Number.NaN;
  });

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

  constructor(gateway: Child, file: string, loader: Loader) {
    this.#gateway = gateway;
    this.#file = file;
    this.#job = { url: gateway.url, path: PATH, authorization: ALPHA, connections: 16 };
    this.#loader = loader;
  }

  async compare(perSecond: number): Promise<void> {
    writeFileSync(this.#file, rolloutText(perSecond));
    await wait(RELOAD_MS);
  }

  async measure(ms = ROUND_MS): Promise<Round> {
    const { pid } = this.#gateway;
    const cpus: number[] = [];
    let before = { at: performance.now(), cpu: processCost(pid)?.cpu };
    const timer = setInterval(() => {
      const now = { at: performance.now(), cpu: processCost(pid)?.cpu };
      if (before.cpu !== undefined && now.cpu !== undefined)
        cpus.push((now.cpu - before.cpu) / 10 / (now.at - before.at));
      before = now;
    }, WINDOW_MS);
    const { times, failed, fault } = await this.#loader.run({ ...this.#job, ms, rate: RATE });
    clearInterval(timer);
    if (failed > 0) throw new Error(`${failed} requests failed: ${fault}`);
    await wait(AFTERMATH_MS);
    return { p99s: p99sOf(times), cpus, memory: processCost(pid)?.memory ?? Number.NaN };
  }
}

interface Pair {
  readonly plain: Round;
  readonly comparing: Round;
}

/** @param perSecond comparisons of the rounds that compare */
async function measurePairs(measured: Measured, perSecond: number): Promise<readonly Pair[]> {
  // Code that compares is compiled before it is measured.
  await measured.compare(perSecond);
  await measured.measure(WARM_UP_MS);
  const pairs: Pair[] = [];
  async function measure(each: number): Promise<Round> {
    await measured.compare(each);
    return measured.measure();
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    // Each second pair the other way round: what drifts on the machine cancels.
    const first = await measure(round % 2 === 0 ? 0 : perSecond);
    const second = await measure(round % 2 === 0 ? perSecond : 0);
    pairs.push(round % 2 === 0 ? { plain: first, comparing: second } : { plain: second, comparing: first });
  }
  return pairs;
}

const mostMemory = (pairs: readonly Pair[]): number =>
  Math.max(...pairs.flatMap(({ plain, comparing }) => [plain.memory, comparing.memory]));

/** @param plainMemory that of a gateway that compares nothing */
async function measureMode(measured: Measured, mode: string, plainMemory: number): Promise<LiveCost> {
  const pairs = await measurePairs(measured, mode === QUEUE_FULL ? 1000 : COMPARISONS);
  const medianOf = (round: keyof Pair, figure: "p99s" | "cpus"): number =>
    median(pairs.flatMap((pair) => pair[round][figure]));
  const plainP99 = medianOf("plain", "p99s");
  return {
    oldService: mode,
    p99: medianOf("comparing", "p99s") - plainP99,
    plainP99,
    cpu: medianOf("comparing", "cpus") - medianOf("plain", "cpus"),
    memory: mostMemory(pairs) - plainMemory,
  };
}

/** Measures a gateway in front of each old service. @param onResult is called with each result */
export const measureLiveCosts = (onResult: (cost: LiveCost) => void): Promise<void> =>
  withChildren(async (keep, folder) => {
    leaveRoom();
    const loader = startLoader();
    // Both services say the same each time: whatever has changed is compared twice, and turns its route back.
    const shared = { upstream: await keep(startUpstream(1)), audit: "metadata", built: true } as const;
    const answering = await keep(startGateway({ ...shared, folder: join(folder, "answering") }));

    async function withGateway<T>(mode: string, measure: (measured: Measured) => Promise<T>): Promise<T> {
      const old = await keep(
        startChild({ script: "parity/old-service.ts", args: [mode, answering.url], ready: LISTENING }),
      );
      const file = join(folder, `${randomUUID()}.yaml`);
      writeFileSync(file, rolloutText(0));
      const env = { LEGACY_URL: old.url, ROLLOUT_FILE: file };
      const gateway = await keep(startGateway({ ...shared, folder: join(folder, randomUUID()), env }));
      pin(gateway.pid, String(LAST));
      const result = await measure(new Measured(gateway, file, loader));
      await gateway.stop();
      await old.stop();
      return result;
    }

    try {
      const plain = mostMemory(await withGateway(WELL, (measured) => measurePairs(measured, 0)));
      for (const mode of MODES)
        onResult(
          await withGateway(mode === QUEUE_FULL ? WELL : mode, (measured) =>
            measureMode(measured, mode, plain),
          ),
        );
    } finally {
      loader.stop();
    }
  });
