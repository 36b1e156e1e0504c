import type { Coverage } from "./coverage.ts";
import { mutate } from "./mutate.ts";
import { random } from "./random.ts";
import type { Target } from "./target.ts";

/** Inputs between two looks at what ran: a look takes as long as many runs, and so does the search for who was new. */
const SMALLEST_BATCH = 4;
const LARGEST_BATCH = 1024;

export interface LoopOptions {
  readonly runs: number;
  readonly seed: number;
  /** Inputs to begin with besides the target's own. */
  readonly corpus: readonly string[];
  /** Is told of every input before it runs, so that whoever watches knows the one that hangs. */
  readonly before: (input: string) => void;
  /** Is told now and then how many inputs were tried, and how many of them reached something new. */
  readonly tell: (runs: number, found: number) => void;
}

export interface LoopResult {
  readonly runs: number;
  /** Inputs that reached something new, in the order they did. */
  readonly found: readonly string[];
  readonly crash?: { readonly input: string; readonly error: string };
}

/**
 * Runs neighbours of what is known, and knows those that reach new code from then on: the way of every
 * coverage-guided fuzzer. Ends at the first crash.
 */
export async function fuzz(target: Target, coverage: Coverage, options: LoopOptions): Promise<LoopResult> {
  const { runs, seed, before, tell } = options;
  const chance = random(seed);
  const corpus = [...new Set([...target.seeds, ...options.corpus])];
  const found: string[] = [];
  const result = (done: number, crash?: LoopResult["crash"]): LoopResult => ({
    runs: done,
    found,
    ...(crash && { crash }),
  });

  async function tryAll(inputs: readonly string[]): Promise<LoopResult["crash"]> {
    for (const input of inputs) {
      before(input);
      try {
        await target.run(input);
      } catch (error) {
        return { input, error: (error as Error).stack ?? String(error) };
      }
    }
    return undefined;
  }

  /** Which of these, that reached something new together, did so: halves are run again until it is one. */
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

  const known = await tryAll(corpus);
  coverage.fresh();
  if (known) return result(0, known);
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
    // Where much is new, looks are near each other; where nothing is, far.
    most = found.length > last ? Math.max(SMALLEST_BATCH, most >> 1) : Math.min(LARGEST_BATCH, most << 1);
    tell(done, found.length);
  }
  return result(done);
}
