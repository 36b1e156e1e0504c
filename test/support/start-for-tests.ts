import { afterAll, beforeAll } from "@jest/globals";

/** Starts something before the tests of a file, or of a `describe`, and stops it after them. */
export function startForTests(start: () => Promise<{ stop(): Promise<void> }>): void {
  let running: { stop(): Promise<void> } | undefined;
  beforeAll(async () => {
    running = await start();
  });
  afterAll(() => running?.stop());
}
