/**
 * Storms of retries. A client that reacts to a window with far more requests than usual is let through. After several
 * such clients the window ends for all.
 */
import { LRUCache } from "lru-cache";
import type { DecisionReader } from "../../audit/index.ts";
import { errorText, MINUTE_MS } from "../../base/index.ts";
import { provenBy, ProvenClients } from "../../gateway/index.ts";
import type { Decision } from "./plan.ts";
import type { PlanClient } from "./plan-dates.ts";
import type { PlanOptions } from "./rules.ts";
import { provenClient } from "./proven-client.ts";
import { readUsualRate } from "./recorded-traffic.ts";

/** More than this many times its usual requests a minute is a storm. */
const STORM_FACTOR = 10;
/** Fewer refused requests than these in one minute are never a storm. */
const STORM_REQUESTS = 100;
/** The number of clients that must storm before a stage is paused for all. */
const CLIENTS_OF_PAUSE = 3;

const MAX_CLIENTS = 10_000;

/** The requests of a client in a minute. */
interface Minute {
  readonly minute: number;
  requests: number;
  /** The number of requests that are not a storm yet. Undefined until it is known. */
  most: number | undefined;
}

/** The storms of a window. */
interface WindowStorms {
  readonly from: number;
  readonly clients: ProvenClients;
  readonly names: string[];
}

type BrownOut = Extract<Decision, { kind: "brown_out" }>;

type StormOptions = Pick<PlanOptions, "directory" | "log" | "clock"> & {
  readonly control: Pick<PlanOptions["control"], "pause">;
  readonly decisions: Pick<DecisionReader, "callsOf"> | undefined;
};

const pauseKey = (stage: string, name: string): string => JSON.stringify([stage, name]);

/** Invented tokens, which have no usual requests, pause nothing. */
const mostOf = (usualPerMinute: number | undefined): number =>
  usualPerMinute === undefined ? Infinity : Math.max(STORM_REQUESTS, STORM_FACTOR * usualPerMinute);

/**
 * Counts the requests that windows refuse. Each process compares its own count with the whole limit. A client with
 * one connection uses one process, so a part of the limit could be exceeded by ordinary requests.
 */
export class StormGuard {
  readonly #options: StormOptions;
  readonly #counts = new LRUCache<string, Minute>({ max: MAX_CLIENTS });
  /** When the windows end that let clients through. */
  readonly #until = new LRUCache<string, number>({ max: MAX_CLIENTS });
  readonly #storms = new Map<string, WindowStorms>();

  constructor(options: StormOptions) {
    this.#options = options;
  }

  /** Whether a stage lets a client through at a time. */
  isExempt(stage: string, name: string, time: number): boolean {
    return this.#until.size > 0 && time < (this.#until.get(pauseKey(stage, name)) ?? 0);
  }

  /** Counts a request that a window refuses. Never rejects. */
  async count(decision: BrownOut, client: PlanClient, address: string): Promise<void> {
    const { directory, decisions, log } = this.#options;
    const { stage, window } = decision;
    const { name, keys } = provenClient(client, directory());
    if (!decisions || name === undefined) return;
    const { fingerprint: token } = client;
    // A client with a name counts as itself.
    const by = name === token ? provenBy(undefined, token, address) : provenBy(name, undefined, address);
    try {
      if (await this.#isStorm(name, () => readUsualRate(decisions, keys, window.from)))
        this.#end(decision, name, by);
    } catch (error) {
      log.error(
        { code: "AG_SUNSET_RATE_UNKNOWN", stage: stage.name, client: name, error: errorText(error) },
        "how much a client usually calls can't be read: its retries are not taken for a storm",
      );
    }
  }

  /** Whether the requests of a client in this minute became a storm with this one. Its usual rate is read once in a minute. */
  async #isStorm(name: string, readUsual: () => Promise<number | undefined>): Promise<boolean> {
    const minute = Math.floor(this.#options.clock() / MINUTE_MS);
    let found = this.#counts.get(name);
    if (found?.minute !== minute) {
      found = { minute, requests: 0, most: undefined };
      this.#counts.set(name, found);
    }
    found.requests += 1;
    if (found.requests !== STORM_REQUESTS + 1) return found.requests === (found.most ?? Infinity) + 1;
    found.most = mostOf(await readUsual());
    // Others have been counted meanwhile.
    return found.requests > found.most;
  }

  /** Lets a client through until the window ends. If several clients storm, the stage is paused for all. */
  #end({ stage: { name: stage }, window }: BrownOut, client: string, by: string): void {
    const { control, log } = this.#options;
    this.#until.set(pauseKey(stage, client), window.until);
    const clients = this.#stormingWith(stage, window.from, client, by);
    const isPaused = clients.length >= CLIENTS_OF_PAUSE;
    log.error(
      { code: "AG_SUNSET_STORM", stage, client, isPaused },
      "a client answers a window with a storm of retries: the window lets it through; if several do, the stage is paused",
    );
    if (!isPaused) return;
    this.#storms.delete(stage);
    const reason = `${clients.join(", ")} answered with storms of retries`;
    control.pause({ stage, by: "gateway", reason }).catch((error: unknown) => {
      log.error(
        { code: "AG_SUNSET_PAUSE_FAILED", stage, error: errorText(error) },
        "a stage of the plan could not be paused",
      );
    });
  }

  /**
   * The clients that storm in a window, including one more. Empty if that is not another one. Clients with the same
   * token or network count once.
   */
  #stormingWith(stage: string, from: number, client: string, by: string): readonly string[] {
    let found = this.#storms.get(stage);
    if (found?.from !== from) {
      found = { from, clients: new ProvenClients(), names: [] };
      this.#storms.set(stage, found);
    }
    if (found.clients.find(by) !== undefined) return [];
    found.clients.add(by);
    found.names.push(client);
    return found.names;
  }
}
