/** What the gateway should cost, as a ratio to the peer. The figures were measured with the gateway on a processor of its own. */

/** CPU of a request. */
const CPU_GOALS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "List of 25 instances": {
    "alpha pipeline, AUDIT=off": 1.8,
    "alpha pipeline, AUDIT=metadata": 1.95,
    "alpha pipeline, AUDIT=full": 3,
    "native proxy, AUDIT=off": 1.15,
    "native proxy, AUDIT=metadata": 1.3,
    "native proxy, AUDIT=full": 1.3,
  },
  "A disk": {
    "alpha pipeline, AUDIT=off": 0.9,
    "alpha pipeline, AUDIT=metadata": 1.25,
    "alpha pipeline, AUDIT=full": 1.25,
    "native proxy, AUDIT=off": 1.15,
    "native proxy, AUDIT=metadata": 1.3,
    "native proxy, AUDIT=full": 1.3,
  },
};

/** The goal for a kind of request and a target; undefined where there is none. */
export const cpuGoal = (request: string, target: string): number | undefined => CPU_GOALS[request]?.[target];

/** Resident memory after a minute of lists, by `AUDIT`. */
export const MEMORY_GOALS: Readonly<Record<string, number>> = { off: 1.3, metadata: 1.5, full: 1.8 };
