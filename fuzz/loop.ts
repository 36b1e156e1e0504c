import type { Coverage } from "./coverage.ts";
import { mutate } from "./mutate.ts";
import { random } from "./random.ts";
import type { Target } from "./target.ts";

/** Inputs between two reads of the coverage. A read takes as long as many runs, and so does the search for the new input. */
const SMALLEST_BATCH = 4;
const LARGEST_BATCH = 1024;

export interface LoopOptions {
  readonly runs: number;
  readonly seed: number;
  /** Inputs to start with, in addition to the seeds of the target. */
  readonly corpus: readonly string[];
  /** Runs before each input, so that the supervisor knows the input that hangs. */
  readonly before: (input: string) => void;
  /** Gets the number of inputs tried so far, and the number that reached new code. */
  readonly report: (runs: number, found: number) => void;
}

export interface LoopResult {
  readonly runs: number;
  /** The sum of what the runs returned; 0 where they return nothing. */
  readonly comparisons: number;
  /** Inputs that reached new code, in order. */
  readonly found: readonly string[];
  readonly crash?: { readonly input: string; readonly error: string };
}

/**
 * Mutates the inputs of the corpus and adds those that reach new code, as every coverage-guided fuzzer does. Ends at
 * the first crash.
 */
export async function fuzz(target: Target, coverage: Coverage, options: LoopOptions): Promise<LoopResult> {
  const { runs, seed, before, report } = options;
  const chance = random(seed);
  const corpus = [...new Set([...target.seeds, ...options.corpus])];
  const found: string[] = [];
  let comparisons = 0;
  const result = (done: number, crash?: LoopResult["crash"]): LoopResult => ({
    runs: done,
    comparisons,
    found,
    ...(crash && { crash }),
  });

  async function tryAll(inputs: readonly string[]): Promise<LoopResult["crash"]> {
    for (const input of inputs) {
      before(input);
      try {
        comparisons += (await target.run(input)) ?? 0;
      } catch (error) {
        return { input, error: (error as Error).stack ?? String(error) };
      }
    }
    return undefined;
  }

  /** Finds the inputs of a batch that reached new code, by bisection. */
  async function blame(inputs: readonly string[]): Promise<void> {
    const half = inputs.length >> 1;
    if (half === 0) {
      await tryAll(inputs);
      if (!coverage.fresh()) return;
      corpus.push(...inputs);
      found.push(...inputs);
    } else {
      for (const part of [inputs.slice(0, half), inputs.slice(half)]) {
        await tryAll(part);
        if (coverage.peek()) await blame(part);
      }
    }
  }

  const firstCrash = await tryAll(corpus);
  coverage.fresh();
  if (firstCrash) return result(0, firstCrash);
  let done = corpus.length;
  let most = SMALLEST_BATCH;
  while (done < runs) {
    const batch = Array.from({ length: Math.min(most, runs - done) }, () =>
      mutate(chance.pick(corpus), chance, {
        corpus,
        dictionary: target.dictionary,
        longest: target.longest,
      }),
    );
    const crash = await tryAll(batch);
    if (crash) return result(done, crash);
    done += batch.length;
    const last = found.length;
    if (coverage.peek()) await blame(batch);
    // Reads the coverage often while much is new, and seldom otherwise.
    most = found.length > last ? Math.max(SMALLEST_BATCH, most >> 1) : Math.min(LARGEST_BATCH, most << 1);
    report(done, found.length);
  }
  return result(done);
}
