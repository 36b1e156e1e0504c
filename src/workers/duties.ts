import type { CounterName, Standing } from "../limits/counter.ts";
import type { PackFiles } from "../mapping/load.ts";
import type { Figures } from "../metrics/aggregate.ts";
import type { LastingFacts, TokenFacts } from "../tokens/token-facts.ts";

/** What the primary does for its workers: it keeps what they share, where there is no Redis. */
export interface PrimaryDuties {
  take(counter: CounterName, key: string): Promise<Standing>;
  giveBack(counter: CounterName, key: string): Promise<void>;
  recall(hash: string): LastingFacts | undefined;
  /** Without facts: forgets. */
  learn(hash: string, facts: TokenFacts | undefined): void;
  /** At every worker. */
  purge(fingerprint: string): Promise<void>;
  /** The files of the pack that all work by. */
  pack(): PackFiles;
  /** The worker takes requests from now on, on this port. */
  listening(port: number): void;
  /** The worker can't listen, and ends. */
  refused(reason: string): void;
}

/** What a worker does for the primary. */
export interface WorkerDuties {
  readiness(): readonly string[] | Promise<readonly string[]>;
  metrics(): Promise<Figures>;
  purge(fingerprint: string): void;
  /** Begins to take another pack into use. */
  reload(files: PackFiles): void;
  /** Lets its requests end, and then itself. */
  drain(): void;
}
