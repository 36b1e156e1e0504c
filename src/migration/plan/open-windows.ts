/** The windows of a plan that are open, and the clients that keep them from beginning. */
import { isDeepStrictEqual } from "node:util";
import { errorText } from "../../base/index.ts";
import type { StageWindow } from "./plan.ts";
import type { PlanOptions } from "./rules.ts";
import { findCalling } from "./recorded-traffic.ts";

/** Pause before traffic that could not be read is read again. */
const RETRY_MS = 10_000;

type OpenWindowsOptions = Pick<PlanOptions, "plan" | "directory" | "decisions" | "log" | "clock">;

/** The known facts about an open window. */
interface OpenWindow {
  readonly from: number;
  readonly waitFor: readonly string[];
  /** Clients that it waits for, and that called. */
  readonly blockedBy: readonly string[];
}

/** The open windows, with the known calls of the clients for which they wait. */
export class OpenWindows {
  readonly #options: OpenWindowsOptions;
  /** By the names of their stages. */
  readonly #open = new Map<string, OpenWindow>();
  #retryAt = 0;
  #preparing: Promise<void> | undefined;

  constructor(options: OpenWindowsOptions) {
    this.#options = options;
  }

  /** The clients that keep a window of a stage from beginning. Undefined if it is not known yet. */
  blockedBy({ name, waitFor }: StageWindow["stage"], from: number): readonly string[] | undefined {
    const found = this.#open.get(name);
    // A changed plan may wait for other clients in a window that is open.
    return found?.from === from && isDeepStrictEqual(found.waitFor, waitFor) ? found.blockedBy : undefined;
  }

  /** Whether a window begins. It does not while the recent calls are unknown. */
  mayBegin(stage: StageWindow["stage"], from: number): boolean {
    return stage.waitFor.length === 0 || this.blockedBy(stage, from)?.length === 0;
  }

  /** Reads the data on which open windows depend. @throws {AuditUnavailableError} */
  async read(): Promise<void> {
    const { plan, clock } = this.#options;
    for (const each of plan().windowsAt(clock())) {
      const { stage, window } = each;
      if (stage.waitFor.length > 0 && !this.blockedBy(stage, window.from)) await this.#readOne(each);
    }
  }

  /** The same, once at a time, and again after a pause if it fails. Never rejects. */
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
    // If the recent calls are unknown, the window waits for all its clients.
    const blockedBy = decisions ? await findCalling(decisions, directory(), waitFor, from) : waitFor;
    this.#open.set(name, { from, waitFor, blockedBy });
    if (blockedBy.length > 0)
      log.warn(
        { code: "AG_SUNSET_WINDOW_WAITS", stage: name, clients: blockedBy },
        "a window of the plan does not begin: clients that it waits for called within 14 days",
      );
  }
}
