import type { Coverage } from "./coverage.ts";
import { mutate } from "./mutate.ts";
import { random } from "./random.ts";
import type { Target } from "./target.ts";

/** Milliseconds of work between two looks at what ran: a look costs some three. */
const BATCH_MS = 60;

const LARGEST_BATCH = 512;

export interface LoopOptions {
  readonly runs: number;
  readonly seed: number;
  /** Inputs to begin with besides the target's own. */
  readonly corpus: readonly string[];
  /** Is told of every input before it runs, so that whoever watches knows the one that hangs. */
  readonly before: (input: string) => void;
}

export interface LoopResult {
  readonly runs: number;
  /** Inputs that reached something new, in the order they did. */
  readonly found: readonly string[];
  readonly blocks: number;
  readonly crash?: { readonly input: string; readonly error: string };
}

/**
 * Runs neighbours of what is known, and knows those that reach new code from then on: the way of every
 * coverage-guided fuzzer. Ends at the first crash.
 */
export async function fuzz(target: Target, coverage: Coverage, options: LoopOptions): Promise<LoopResult> {
  const { runs, seed, before } = options;
  const chance = random(seed);
  const corpus = [...new Set([...target.seeds, ...options.corpus])];
  const found: string[] = [];
  const tell = (done: number, crash?: LoopResult["crash"]): LoopResult => ({
    runs: done,
    found,
    blocks: coverage.known,
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

  /** Which of them reached something new: halves are run again until it is one. */
  async function blame(inputs: readonly string[]): Promise<void> {
    await tryAll(inputs);
    if (!coverage.peek()) return;
    if (inputs.length > 1) {
      const half = inputs.length >> 1;
      await blame(inputs.slice(0, half));
      return blame(inputs.slice(half));
    }
    await tryAll(inputs);
    coverage.fresh();
    corpus.push(...inputs);
    found.push(...inputs);
  }

  const begun = performance.now();
  const known = await tryAll(corpus);
  coverage.fresh();
  if (known) return tell(0, known);
  const each = (performance.now() - begun) / corpus.length;
  const most = Math.max(4, Math.min(LARGEST_BATCH, Math.round(BATCH_MS / each)));
  let done = corpus.length;
  while (done < runs) {
    const batch = Array.from({ length: Math.min(most, runs - done) }, () =>
      mutate(chance.pick(corpus), chance, {
        corpus,
        dictionary: target.dictionary,
        longest: target.longest,
      }),
    );
    const crash = await tryAll(batch);
    if (crash) return tell(done, crash);
    done += batch.length;
    if (coverage.peek()) await blame(batch);
  }
  return tell(done);
}
