/**
 * Storms of retries. A client that reacts to a brown-out with far more requests than usual is exempt from it. After
 * several such clients, the brown-out ends for all.
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

/** A storm is more than this many times the client's usual requests per minute. */
const STORM_FACTOR = 10;
/** Minimum number of refused requests in one minute for a storm. */
const STORM_REQUESTS = 100;
/** Number of storming clients after which a stage is paused for all clients. */
const CLIENTS_OF_PAUSE = 3;

const MAX_CLIENTS = 10_000;

/** The requests of a client in a minute. */
interface Minute {
  readonly minute: number;
  requests: number;
  /** Number of requests above which the client causes a storm. Undefined until it is known. */
  most: number | undefined;
}

/** The storms of a brown-out. */
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

/** Returns the limit for a client. Invented tokens have no usual requests, and can't pause a stage. */
const mostOf = (usualPerMinute: number | undefined): number =>
  usualPerMinute === undefined ? Infinity : Math.max(STORM_REQUESTS, STORM_FACTOR * usualPerMinute);

/**
 * Counts the requests that brown-outs refuse. Each process compares its own count with the whole limit: a client with
 * one connection uses one process, so ordinary requests could exceed a part of the limit.
 */
export class StormGuard {
  readonly #options: StormOptions;
  readonly #counts = new LRUCache<string, Minute>({ max: MAX_CLIENTS });
  /** The ends of brown-outs from which clients are exempt. */
  readonly #until = new LRUCache<string, number>({ max: MAX_CLIENTS });
  readonly #storms = new Map<string, WindowStorms>();

  constructor(options: StormOptions) {
    this.#options = options;
  }

  /** Whether a client is exempt from a stage at a time. */
  isExempt(stage: string, name: string, time: number): boolean {
    return this.#until.size > 0 && time < (this.#until.get(pauseKey(stage, name)) ?? 0);
  }

  /** Counts a request that a brown-out refuses. Never rejects. */
  async count(decision: BrownOut, client: PlanClient, address: string): Promise<void> {
    const { directory, decisions, log } = this.#options;
    const { stage, window } = decision;
    const { name, keys } = provenClient(client, directory());
    if (!decisions || name === undefined) return;
    const { fingerprint: token } = client;
    // A client with a name is counted by its name.
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

  /**
   * Whether this request turned the client's requests in this minute into a storm. The client's usual rate is read once
   * per minute.
   */
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
    // Further requests may have been counted in the meantime.
    return found.requests > found.most;
  }

  /** Exempts a client until the brown-out ends. If several clients storm, the stage is paused for all clients. */
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
   * Returns the clients that storm during a brown-out, including a new one. Empty if it is not a new one. Clients with
   * the same token or network are counted once.
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
