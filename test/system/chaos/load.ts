/** Requests without a pause while something breaks, and what the answers were. */
import { eventually } from "../../support/before-fake.ts";

export interface Load<T> {
  /** Waits for so many more answers. */
  more(count: number): Promise<void>;
  /** All that was answered; an error counts as its message, and ends the load. */
  end(): Promise<ReadonlySet<T | string>>;
}

/** Asks from so many clients until it is told to end. */
export function underLoad<T>(ask: () => Promise<T>, clients = 4): Load<T> {
  const said = new Set<T | string>();
  const end = new AbortController();
  let answers = 0;
  async function client(): Promise<void> {
    while (!end.signal.aborted) {
      said.add(
        await ask().catch((error: Error) => {
          end.abort();
          return error.message;
        }),
      );
      answers += 1;
    }
  }
  const all = Array.from({ length: clients }, client);
  return {
    async more(count) {
      const enough = answers + count;
      await eventually(() => answers >= enough || end.signal.aborted);
    },
    async end() {
      end.abort();
      await Promise.all(all);
      return said;
    },
  };
}
