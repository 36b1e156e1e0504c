import type { Diagnostic } from "../../src/base/files/diagnostic.ts";
import { compareExamples, diagnosticsOf } from "../../src/authoring/examples/run-examples.ts";

/** Runs examples of a pack. @returns what differs, with the location in the example */
export const runExamples = async (...given: Parameters<typeof compareExamples>): Promise<Diagnostic[]> =>
  diagnosticsOf(await compareExamples(...given));
