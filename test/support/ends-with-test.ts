/** What tests open ends by itself: test/jest/environment.cjs calls the functions that were given here. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ENDS = Symbol.for("ends-with-test");

type End = () => unknown;

/**
 * Ends something with the test that has opened it; what `beforeAll` has opened, after the tests of its `describe`; what the
 * file has opened, after all. What was opened last ends first, and after `afterEach`.
 *
 * @returns the function to end it before. Further calls have no effect
 */
export function endsWithTest<T>(end: () => Promise<T>): () => Promise<T>;
export function endsWithTest<T>(end: () => T): () => T;
export function endsWithTest(end: End): End {
  let ending: { readonly result: unknown } | undefined;
  const once: End = () => (ending ??= { result: end() }).result;
  // Not all programs that use these helpers are tests.
  (globalThis as { [ENDS]?: (end: End) => void })[ENDS]?.(once);
  return once;
}

/** Makes a folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "test-"));
  endsWithTest(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
