/** Clients that answered a window with a storm of retries: the window lets them through, and ends for all after several. */
import { LRUCache } from "lru-cache";
import type { ClientDirectory, DecisionReader } from "../../audit/index.ts";
import { errorText, type Log } from "../../base/index.ts";
import { provenBy, ProvenClients } from "../../gateway/index.ts";
import type { PlanControl } from "./control.ts";
import type { Decision } from "./plan.ts";
import type { PlanClient } from "./plan-dates.ts";
import { provenClient } from "./proven-client.ts";
import { readUsualRate } from "./recorded-traffic.ts";
import { watchStorms } from "./retry-storms.ts";
import type { Window } from "./windows.ts";

/** So many different clients have to storm before a stage is paused for all. */
const CLIENTS_OF_PAUSE = 3;

const MAX_CLIENTS = 10_000;

/** A client that storms. */
export interface StormingClient {
  readonly name: string;
  /** The proven owner of its requests, as {@link ProvenClients} distinguishes clients. */
  readonly by: string;
}

/** The storms of a window. */
interface WindowStorms {
  readonly from: number;
  readonly clients: ProvenClients;
  readonly names: string[];
}

const keyOf = (stage: string, name: string): string => JSON.stringify([stage, name]);

/** The clients of one process that storm. */
export class StormingClients {
  /** When the windows end that let clients through. */
  readonly #until = new LRUCache<string, number>({ max: MAX_CLIENTS });
  readonly #storms = new Map<string, WindowStorms>();

  /** Whether a stage lets a client through at a time. */
  isExempt(stage: string, name: string, time: number): boolean {
    return this.#until.size > 0 && time < (this.#until.get(keyOf(stage, name)) ?? 0);
  }

  /**
   * Lets a client through until the window ends. Of those with one token or one network one is counted; a client with a name counts as itself.
   *
   * @returns the clients because of which the stage has to be paused; undefined: they are too few
   */
  add(stage: string, { from, until }: Window, { name, by }: StormingClient): readonly string[] | undefined {
    this.#until.set(keyOf(stage, name), until);
    let found = this.#storms.get(stage);
    if (found?.from !== from) {
      found = { from, clients: new ProvenClients(), names: [] };
      this.#storms.set(stage, found);
    }
    if (found.clients.find(by) !== undefined) return undefined;
    found.clients.add(by);
    found.names.push(name);
    if (found.names.length < CLIENTS_OF_PAUSE) return undefined;
    this.#storms.delete(stage);
    return found.names;
  }
}

type BrownOut = Extract<Decision, { kind: "brown_out" }>;

export interface StormGuardOptions {
  readonly directory: () => ClientDirectory;
  readonly control: Pick<PlanControl, "pause">;
  readonly decisions: DecisionReader | undefined;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Counts the requests that windows refuse, and ends the windows for clients that answer them with storms. */
export class StormGuard {
  readonly #options: StormGuardOptions;
  readonly #storms = watchStorms();
  readonly #storming = new StormingClients();

  constructor(options: StormGuardOptions) {
    this.#options = options;
  }

  /** As {@link StormingClients.isExempt}. */
  isExempt(stage: string, name: string, time: number): boolean {
    return this.#storming.isExempt(stage, name, time);
  }

  /** Counts a request that a window refuses. */
  count(decision: BrownOut, client: PlanClient, address: string): void {
    const { directory, decisions, log, clock } = this.#options;
    const { stage, window } = decision;
    const { name, keys } = provenClient(client, directory());
    if (!decisions || name === undefined) return;
    const { fingerprint: token } = client;
    const by = name === token ? provenBy(undefined, token, address) : provenBy(name, undefined, address);
    const readUsual = (): Promise<number | undefined> => readUsualRate(decisions, keys, window.from);
    this.#storms.count(name, clock(), readUsual).then(
      (isStorm) => isStorm && this.#end(decision, { name, by }),
      (error: unknown) =>
        log.error(
          { code: "AG_SUNSET_RATE_UNKNOWN", stage: stage.name, client: name, error: errorText(error) },
          "how much a client usually calls can't be read: its retries are not taken for a storm",
        ),
    );
  }

  /** Lets the client through until the window ends. If several clients storm, the stage is paused for all. */
  #end({ stage: { name: stage }, window }: BrownOut, client: StormingClient): void {
    const { control, log } = this.#options;
    const clients = this.#storming.add(stage, window, client);
    log.error(
      { code: "AG_SUNSET_STORM", stage, client: client.name, isPaused: clients !== undefined },
      "a client answers a window with a storm of retries: the window lets it through; if several do, the stage is paused",
    );
    if (clients === undefined) return;
    const reason = `${clients.join(", ")} answered with storms of retries`;
    control.pause({ stage, by: "gateway", reason }).catch((error: unknown) => {
      log.error(
        { code: "AG_SUNSET_PAUSE_FAILED", stage, error: errorText(error) },
        "a stage of the plan could not be paused",
      );
    });
  }
}
