/**
 * What comparisons cost the clients of a gateway, whatever the old service does. One gateway compares and does not, in turns,
 * by its rollout file.
 */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
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
/**
 * CPU is measured with as many times the comparisons, and divided: two rounds with the same settings differ by three times
 * the goal.
 */
const CPU_FACTOR = 10;
/** Pairs of rounds, one of which compares. */
const ROUNDS = Number(process.env["PARITY_ROUNDS"] ?? 11);
const ROUND_MS = Number(process.env["PARITY_ROUND_MS"] ?? 8000);
/**
 * What a round is measured by. A garbage collection, and whatever else stops the machine for a tenth of a second, would be
 * the p99 of a longer time, whether there are comparisons or not. Of short ones it is in a few.
 */
const WINDOW_MS = 2000;
const WINDOW = (WINDOW_MS / 1000) * RATE;
/** Code that compares is compiled before it is measured. */
const WARM_UP_MS = 20_000;
/** The load before the memory is read. */
const MEMORY_MS = 30_000;
/**
 * Under so low a load V8 soon collects all of the heap about once a second, with comparisons and without, and this is the
 * p99 then. With a large heap it does not. Memory is measured with Node's own settings.
 */
const WITHOUT_COLLECTIONS = ["--initial-heap-size=1024"];
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
  /** In per cent of a core. Undefined where the old service does not answer: no goal is about that. */
  readonly cpu?: number;
  /** Bytes after half a minute, above those of a gateway that has had as many requests and has compared none. */
  readonly memory: number;
}

/** Each request begins a comparison, and none ends before its time is up: most are dropped. */
const QUEUE_FULL = "queue full";
/** The old service that answers. */
const WELL = "after 1 ms";
const MODES = [WELL, "after 5 s", "hangs", "resets", "10 MB", QUEUE_FULL] as const;

const MOST_P99_MS = 1;
const MOST_MEMORY = 64 * 1024 ** 2;
const MOST_CPU = 1;
export const GOALS = `p99 at most ${MOST_P99_MS} ms more, CPU ${MOST_CPU} % (where the old service answers), memory 64 MB`;

/** The goals that a result misses. */
export const missesOf = ({ oldService, p99, cpu = 0, memory }: LiveCost): string[] => [
  ...(p99 > MOST_P99_MS ? [`old service ${oldService}: p99 ${p99.toFixed(2)} ms more`] : []),
  ...(memory > MOST_MEMORY ? [`old service ${oldService}: ${(memory / 1024 ** 2).toFixed(0)} MB more`] : []),
  ...(cpu > MOST_CPU ? [`old service ${oldService}: ${cpu.toFixed(2)} % CPU`] : []),
];

interface Round {
  /** Of each window. */
  readonly p99s: readonly number[];
  /** Of each window, in per cent. */
  readonly cpus: readonly number[];
  /** Resident bytes at its end. */
  readonly memory: number;
}

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
    const { p99s, failed, fault } = await this.#loader.run({ ...this.#job, ms, rate: RATE, window: WINDOW });
    clearInterval(timer);
    if (failed > 0) throw new Error(`${failed} requests failed: ${fault}`);
    await wait(AFTERMATH_MS);
    return { p99s, cpus, memory: processCost(pid)?.memory ?? Number.NaN };
  }
}

interface Pair {
  readonly plain: Round;
  readonly comparing: Round;
}

/** @param perSecond comparisons of the rounds that compare */
async function measurePairs(measured: Measured, perSecond: number): Promise<readonly Pair[]> {
  await measured.compare(perSecond);
  await measured.measure(WARM_UP_MS);
  const pairs: Pair[] = [];
  async function measure(each: number): Promise<Round> {
    await measured.compare(each);
    return measured.measure();
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    // Each second pair the other way round: what drifts on the machine cancels.
    if (round % 2 === 0) pairs.push({ plain: await measure(0), comparing: await measure(perSecond) });
    else pairs.push({ comparing: await measure(perSecond), plain: await measure(0) });
  }
  return pairs;
}

async function measureMemory(measured: Measured, perSecond: number): Promise<number> {
  await measured.compare(perSecond);
  return (await measured.measure(MEMORY_MS)).memory;
}

/** What the pairs of rounds of an old service show. */
function latencyOf(pairs: readonly Pair[]): Pick<LiveCost, "p99" | "plainP99"> {
  const medianOf = (round: keyof Pair): number => median(pairs.flatMap((pair) => pair[round].p99s));
  const plainP99 = medianOf("plain");
  return { p99: medianOf("comparing") - plainP99, plainP99 };
}

/** Per cent of a core: the median of the differences of each pair. */
const cpuOf = (pairs: readonly Pair[]): number =>
  median(pairs.map(({ plain, comparing }) => median(comparing.cpus) - median(plain.cpus))) / CPU_FACTOR;

/** Measures a gateway in front of each old service. @param onResult is called with each result */
export const measureLiveCosts = (onResult: (cost: LiveCost) => void): Promise<void> =>
  withChildren(async (keep, folder) => {
    const loader = startLoader();
    // Both services say the same each time: whatever has changed is compared twice, and turns its route back.
    const shared = { upstream: await keep(startUpstream("1")), audit: "metadata", built: true } as const;
    const answering = await keep(startGateway({ ...shared, folder: join(folder, "answering") }));

    async function withGateway<T>(
      mode: string,
      nodeArgs: readonly string[],
      measure: (measured: Measured) => Promise<T>,
    ): Promise<T> {
      const old = await keep(
        startChild({
          script: "parity/old-service.ts",
          args: [mode === QUEUE_FULL ? "hangs" : mode, answering.url],
          ready: LISTENING,
        }),
      );
      const file = join(folder, `${randomUUID()}.yaml`);
      writeFileSync(file, rolloutText(0));
      const env = { LEGACY_URL: old.url, ROLLOUT_FILE: file };
      const gateway = await keep(
        startGateway({ ...shared, folder: join(folder, randomUUID()), env, nodeArgs }),
      );
      const result = await measure(new Measured(gateway, file, loader));
      await gateway.stop();
      await old.stop();
      return result;
    }

    try {
      const plain = await withGateway(WELL, [], (measured) => measureMemory(measured, 0));
      for (const oldService of MODES) {
        const perSecond = oldService === QUEUE_FULL ? 1000 : COMPARISONS;
        const pairs = await withGateway(oldService, WITHOUT_COLLECTIONS, (measured) =>
          measurePairs(measured, perSecond),
        );
        const memory = await withGateway(oldService, [], (measured) => measureMemory(measured, perSecond));
        const cpu =
          oldService === WELL
            ? cpuOf(
                await withGateway(WELL, WITHOUT_COLLECTIONS, (measured) =>
                  measurePairs(measured, CPU_FACTOR * COMPARISONS),
                ),
              )
            : undefined;
        onResult({
          oldService,
          ...latencyOf(pairs),
          ...(cpu !== undefined && { cpu }),
          memory: memory - plain,
        });
      }
    } finally {
      loader.stop();
    }
  });
