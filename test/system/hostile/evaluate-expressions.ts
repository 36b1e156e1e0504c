/** A thread that evaluates sources, one after the other, and reports how each ended. */
import { parentPort, workerData } from "node:worker_threads";
import { compile, ExpressionError } from "../../../src/jsonata/index.ts";
import { interpret } from "../../../src/jsonata/interpreter/interpret.ts";

const { sources, engine } = workerData as { readonly sources: readonly string[]; readonly engine: string };

async function endOf(source: string): Promise<string> {
  try {
    const expression = engine === "compiled" ? compile(source) : interpret(source);
    await expression.evaluate({ a: { a: 1 } }, {});
    await expression.print({ a: { a: 1 } }, {});
    return "value";
  } catch (error) {
    return error instanceof ExpressionError ? "own error" : String(error);
  }
}

for (const source of sources) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage({ started: source });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage({ end: await endOf(source) });
}
