/** The exports of `authoring` for other rooms. */
export type { ApiRoute } from "./draft/api-description.ts";
export { draftFiles } from "./draft/draft-files.ts";
export type { CountUses } from "./draft/draft-model.ts";
export { findRoute } from "./draft/find-route.ts";
export { editorFiles, type NewFile, newPackFiles, type NewPackOptions } from "./draft/new-pack.ts";
export { readApi } from "./draft/read-api.ts";
export type { Nesting } from "./draft/read-objects.ts";
export type { ExampleResult } from "./examples/compare-example.ts";
export { coverageOf } from "./examples/coverage.ts";
export {
  catalogsSchema,
  EXAMPLES_FOLDER,
  exampleSchema,
  isCall,
  readExamples,
  splitCall,
  type WrittenCall,
} from "./examples/example.ts";
export { toGoldenCase } from "./examples/golden-case.ts";
export {
  compareExamples,
  diagnosticsOf,
  findLeftOutRows,
  findUnknownLists,
} from "./examples/run-examples.ts";
export { updateExamples } from "./examples/update-examples.ts";
export { explainRecord } from "./explain/explain-record.ts";
export type { LawFinding } from "./laws/law-report.ts";
export { findCatalogRows } from "./trace/catalog-rows.ts";
export { formatTrace } from "./trace/format-trace.ts";
export { traceInThread } from "./trace/trace-in-thread.ts";
export { traceCall, traceExample, traceRecord } from "./trace/trace-request.ts";
export type { Trace } from "./trace/trace.ts";
export { checkDocuments, writeCounterexamples } from "./types/check-documents.ts";
export type { FieldVerdict, TypeReport } from "./types/type-report.ts";

/** Loads the laws of packs, and fast-check, which generates values for them. */
export const loadLaws = (): Promise<typeof import("./laws/check-laws.ts")> => import("./laws/check-laws.ts");
