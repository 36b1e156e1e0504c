import { afterAll, beforeAll } from "@jest/globals";

/**
 * Starts something before the tests of a file, or of a `describe`, and stops it after them.
 *
 * @returns what is started. Its members are there while the tests run
 */
export function startForTests<T extends { stop(): Promise<void> }>(start: () => Promise<T>): T {
  let running: T | undefined;
  beforeAll(async () => {
    running = await start();
  });
  afterAll(() => running?.stop());
  return new Proxy({} as T, { get: (_target, name) => running?.[name as keyof T] });
}
