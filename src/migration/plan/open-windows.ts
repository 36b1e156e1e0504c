/** The open brown-outs of a plan, and the clients that prevent them from starting. */
import { isDeepStrictEqual } from "node:util";
import { errorText } from "../../base/index.ts";
import type { StageWindow } from "./plan.ts";
import type { PlanOptions } from "./rules.ts";
import { findCalling } from "./recorded-traffic.ts";

/** Milliseconds before calls that could not be read are read again. */
const RETRY_MS = 10_000;

/** The known facts about an open brown-out. */
interface OpenWindow {
  readonly from: number;
  readonly waitFor: readonly string[];
  /** Clients that it waits for, and that called. */
  readonly blockedBy: readonly string[];
}

/** Creates the open brown-outs, with the known calls of the clients that they wait for. */
export function createOpenWindows({
  plan,
  directory,
  decisions,
  log,
  clock,
}: Pick<PlanOptions, "plan" | "directory" | "decisions" | "log" | "clock">) {
  /** The open brown-outs by the names of their stages. */
  const open = new Map<string, OpenWindow>();
  let retryAt = 0;
  let preparing: Promise<void> | undefined;

  /** Returns the clients that prevent a stage's brown-out from starting. Undefined if they are unknown. */
  function blockedBy({ name, waitFor }: StageWindow["stage"], from: number): readonly string[] | undefined {
    const found = open.get(name);
    // During an open brown-out, the plan may change to wait for different clients.
    return found?.from === from && isDeepStrictEqual(found.waitFor, waitFor) ? found.blockedBy : undefined;
  }

  async function read(): Promise<void> {
    for (const { stage, window } of plan().windowsAt(clock())) {
      const { name, waitFor } = stage;
      const { from } = window;
      if (waitFor.length === 0 || blockedBy(stage, from)) continue;
      // If the recent calls are unknown, the brown-out waits for all its clients.
      const calling = decisions ? await findCalling(decisions, directory(), waitFor, from) : waitFor;
      open.set(name, { from, waitFor, blockedBy: calling });
      if (calling.length > 0)
        log.warn(
          { code: "AG_SUNSET_WINDOW_WAITS", stage: name, clients: calling },
          "a window of the plan does not begin: clients that it waits for called within 14 days",
        );
    }
  }

  async function tryToRead(): Promise<void> {
    if (clock() < retryAt) return;
    try {
      await read();
    } catch (error) {
      retryAt = clock() + RETRY_MS;
      log.error(
        { code: "AG_SUNSET_TRAFFIC_UNKNOWN", error: errorText(error) },
        "the traffic before a window can't be read: windows that wait for clients don't begin",
      );
    }
  }

  return {
    blockedBy,
    /** Whether a brown-out may start. False while the recent calls are unknown. */
    mayBegin: (stage: StageWindow["stage"], from: number): boolean =>
      stage.waitFor.length === 0 || blockedBy(stage, from)?.length === 0,
    /** Reads the data on which open brown-outs depend. @throws {AuditUnavailableError} */
    read,
    /** Reads the same data, combines concurrent reads, and repeats a failed read after a pause. Never rejects. */
    prepare: (): Promise<void> => (preparing ??= tryToRead().finally(() => (preparing = undefined))),
  };
}
