/** The open brown-outs of a plan, and the clients that prevent them from starting. */
import { isDeepStrictEqual } from "node:util";
import { errorText } from "../../base/index.ts";
import type { StageWindow } from "./plan.ts";
import type { PlanOptions } from "./rules.ts";
import { findCalling } from "./recorded-traffic.ts";

/** Milliseconds before calls that could not be read are read again. */
const RETRY_MS = 10_000;

type OpenWindowsOptions = Pick<PlanOptions, "plan" | "directory" | "decisions" | "log" | "clock">;

/** The known facts about an open brown-out. */
interface OpenWindow {
  readonly from: number;
  readonly waitFor: readonly string[];
  /** Clients that it waits for, and that called. */
  readonly blockedBy: readonly string[];
}

/** The open brown-outs, with the known calls of the clients that they wait for. */
export class OpenWindows {
  readonly #options: OpenWindowsOptions;
  /** The open brown-outs by the names of their stages. */
  readonly #open = new Map<string, OpenWindow>();
  #retryAt = 0;
  #preparing: Promise<void> | undefined;

  constructor(options: OpenWindowsOptions) {
    this.#options = options;
  }

  /** Returns the clients that prevent a stage's brown-out from starting. Undefined if they are unknown. */
  blockedBy({ name, waitFor }: StageWindow["stage"], from: number): readonly string[] | undefined {
    const found = this.#open.get(name);
    // During an open brown-out, the plan may change to wait for different clients.
    return found?.from === from && isDeepStrictEqual(found.waitFor, waitFor) ? found.blockedBy : undefined;
  }

  /** Whether a brown-out may start. False while the recent calls are unknown. */
  mayBegin(stage: StageWindow["stage"], from: number): boolean {
    return stage.waitFor.length === 0 || this.blockedBy(stage, from)?.length === 0;
  }

  /** Reads the data on which open brown-outs depend. @throws {AuditUnavailableError} */
  async read(): Promise<void> {
    const { plan, clock } = this.#options;
    for (const each of plan().windowsAt(clock())) {
      const { stage, window } = each;
      if (stage.waitFor.length > 0 && !this.blockedBy(stage, window.from)) await this.#readOne(each);
    }
  }

  /** Reads the same data, combines concurrent reads, and repeats a failed read after a pause. Never rejects. */
  prepare(): Promise<void> {
    this.#preparing ??= this.#tryToRead().finally(() => (this.#preparing = undefined));
    return this.#preparing;
  }

  async #tryToRead(): Promise<void> {
    const { clock, log } = this.#options;
    if (clock() < this.#retryAt) return;
    try {
      await this.read();
    } catch (error) {
      this.#retryAt = clock() + RETRY_MS;
      log.error(
        { code: "AG_SUNSET_TRAFFIC_UNKNOWN", error: errorText(error) },
        "the traffic before a window can't be read: windows that wait for clients don't begin",
      );
    }
  }

  async #readOne({ stage: { name, waitFor }, window: { from } }: StageWindow): Promise<void> {
    const { decisions, directory, log } = this.#options;
    // If the recent calls are unknown, the brown-out waits for all its clients.
    const blockedBy = decisions ? await findCalling(decisions, directory(), waitFor, from) : waitFor;
    this.#open.set(name, { from, waitFor, blockedBy });
    if (blockedBy.length > 0)
      log.warn(
        { code: "AG_SUNSET_WINDOW_WAITS", stage: name, clients: blockedBy },
        "a window of the plan does not begin: clients that it waits for called within 14 days",
      );
  }
}
