/** The progress of a worker thread, in shared memory, so that the supervisor can read it while the thread hangs. */
export interface Progress {
  readonly counts: Int32Array;
  readonly input: Uint16Array;
}

/** The counters of a thread. */
export interface Counts {
  /** Runs that started, including those repeated to find the input that reached new code. */
  readonly begun: number;
  /** Inputs that were tried. */
  readonly runs: number;
  /** Inputs that reached new code. */
  readonly found: number;
}

const AT = { begun: 0, runs: 1, found: 2, length: 3 } as const;

const LONGEST_SHOWN = 65_536;

export const makeProgress = (): Progress => ({
  counts: new Int32Array(new SharedArrayBuffer(4 * Object.keys(AT).length)),
  input: new Uint16Array(new SharedArrayBuffer(2 * LONGEST_SHOWN)),
});

/** Stores the input that is about to run. */
export function showInput({ counts, input }: Progress, text: string): void {
  const length = Math.min(text.length, input.length);
  for (let at = 0; at < length; at += 1) input[at] = text.charCodeAt(at);
  Atomics.store(counts, AT.length, length);
  Atomics.add(counts, AT.begun, 1);
}

/** Stores the counters. */
export function showDone({ counts }: Progress, runs: number, found: number): void {
  Atomics.store(counts, AT.runs, runs);
  Atomics.store(counts, AT.found, found);
}

export const countsOf = ({ counts }: Progress): Counts => ({
  begun: Atomics.load(counts, AT.begun),
  runs: Atomics.load(counts, AT.runs),
  found: Atomics.load(counts, AT.found),
});

export const inputOf = ({ counts, input }: Progress): string =>
  String.fromCharCode(...input.slice(0, Atomics.load(counts, AT.length)));
