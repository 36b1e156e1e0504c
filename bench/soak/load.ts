import { setTimeout as wait } from "node:timers/promises";
import type { Kind } from "./clients.ts";

/** Things that went wrong: how many, and the first few in words. */
export interface Failures {
  readonly count: number;
  readonly first: readonly string[];
}

export interface Tally {
  /** How often each kind was done, all its answers as they should be. */
  readonly done: ReadonlyMap<string, number>;
  readonly failures: Failures;
  /** Counts one more. */
  fail(what: string, error: unknown): void;
  /** Milliseconds that clients waited, of all that was done since this was last asked. */
  takeTimes(): number[];
}

interface OpenTally extends Tally {
  succeed(kind: Kind, ms: number): void;
}

const TOLD = 5;

/** More than this under way at once means that the gateway doesn't keep up. */
const MOST_UNDER_WAY = 2000;

export function openTally(kinds: readonly Kind[]): OpenTally {
  const done = new Map(kinds.map(({ name }) => [name, 0]));
  const failures = { count: 0, first: [] as string[] };
  let times: number[] = [];
  return {
    done,
    failures,
    fail(what, error) {
      failures.count += 1;
      if (failures.first.length < TOLD) failures.first.push(`${what}: ${(error as Error).message}`);
    },
    succeed({ name, timed }, ms) {
      done.set(name, (done.get(name) ?? 0) + 1);
      if (timed) times.push(ms);
    },
    takeTimes() {
      const taken = times;
      times = [];
      return taken;
    },
  };
}

/** A hundred turns in which each kind has its share, as evenly spread as can be. */
const deckOf = (kinds: readonly Kind[]): Kind[] =>
  kinds
    .flatMap((kind) => Array.from({ length: kind.share }, (_, n) => ({ kind, at: (n + 0.5) / kind.share })))
    .toSorted((one, other) => one.at - other.at)
    .map(({ kind }) => kind);

/**
 * Does what the kinds say, so many a second, whatever became of those before; resolves when all is answered. The
 * time of each counts from when it was due.
 */
export async function load(
  kinds: readonly Kind[],
  tally: OpenTally,
  { ms, rate }: { readonly ms: number; readonly rate: number },
): Promise<void> {
  const deck = deckOf(kinds);
  const turns = new Map<Kind, number>();
  const underWay = new Set<Promise<void>>();
  const begun = performance.now();

  async function one(kind: Kind, due: number): Promise<void> {
    const turn = turns.get(kind) ?? 0;
    turns.set(kind, turn + 1);
    try {
      await kind.once(turn);
      tally.succeed(kind, performance.now() - due);
    } catch (error) {
      tally.fail(kind.name, error);
    }
  }

  for (let count = 0; (count * 1000) / rate < ms; count += 1) {
    const due = begun + (count * 1000) / rate;
    const early = due - performance.now();
    if (early > 0) await wait(early);
    const kind = deck[count % deck.length];
    if (!kind) break;
    if (underWay.size >= MOST_UNDER_WAY) {
      tally.fail(kind.name, new Error(`${MOST_UNDER_WAY} requests wait for their answers`));
      continue;
    }
    const doing = one(kind, due).finally(() => underWay.delete(doing));
    underWay.add(doing);
  }
  await Promise.all(underWay);
}
