/** Requests without a pause while something breaks, and what the responses were. */
import { waitFor } from "../../support/gateway-with-fake-v4.ts";

export interface Load<T> {
  /** Waits for this many more answers. */
  waitForMore(count: number): Promise<void>;
  /** All that was answered; an error counts as its message, and ends the load. */
  end(): Promise<ReadonlySet<T | string>>;
}

/** Asks from this many clients until it is told to end. */
export function startLoad<T>(ask: () => Promise<T>, clients = 4): Load<T> {
  const said = new Set<T | string>();
  const end = new AbortController();
  let responses = 0;
  async function client(): Promise<void> {
    while (!end.signal.aborted) {
      said.add(
        await ask().catch((error: Error) => {
          end.abort();
          return error.message;
        }),
      );
      responses += 1;
    }
  }
  const all = Array.from({ length: clients }, client);
  return {
    async waitForMore(count) {
      const enough = responses + count;
      await waitFor(() => responses >= enough || end.signal.aborted);
    },
    async end() {
      end.abort();
      await Promise.all(all);
      return said;
    },
  };
}
