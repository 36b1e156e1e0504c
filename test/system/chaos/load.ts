/** Sends requests without a pause during a fault, and collects the responses. */
import { waitFor } from "../../support/gateway-with-fake-v4.ts";

export interface Load<T> {
  /** Waits for this many more responses. */
  waitForMore(count: number): Promise<void>;
  /** Waits until one of the load's own requests had this response, or an error ended the load. */
  waitForResponse(response: T): Promise<void>;
  /** Ends the load and returns the distinct responses. An error counts as its message, and ends the load. */
  end(): Promise<ReadonlySet<T | string>>;
}

/** Sends requests from this many clients until the load is ended. */
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
    async waitForResponse(response) {
      await waitFor(() => said.has(response) || end.signal.aborted);
    },
    async end() {
      end.abort();
      await Promise.all(all);
      return said;
    },
  };
}
