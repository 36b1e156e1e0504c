/** Reads a YAML file of an operator, such as the client directory, and reports all its problems with their locations. */
import { z } from "zod";
import { readTextFile, UnfitFileError } from "../settings/read-text-file.ts";
import { errorText } from "../settings/error-text.ts";
import { formatDiagnostic, type Diagnostic, type Message } from "./diagnostic.ts";
import { validateFile } from "./validate-file.ts";
import { parseYaml, type YamlText } from "./yaml-source.ts";
import type { YamlPath } from "./yaml-nodes.ts";

/** A problem of an operator's file. */
export interface FileProblem extends Diagnostic {
  /** The kind of the problem, such as `AG_FILE_INVALID`. It never changes its meaning. */
  readonly code: string;
}

/** An operator's file is invalid. The error contains every problem. */
export class OperatorFileError extends Error {
  override readonly name = "OperatorFileError";
  readonly code = "AG_FILE_REJECTED";
  readonly problems: readonly FileProblem[];

  constructor(problems: readonly FileProblem[]) {
    super(problems.map((problem) => `${problem.code} ${formatDiagnostic(problem)}`).join("\n"));
    this.problems = problems;
  }
}

/** Reports a problem of the value at a path. */
export type ReportProblem = (code: string, path: YamlPath, message: Message) => void;

/** A kind of file: its schema and the function that compiles it. */
export interface OperatorFileKind<Definition, T> {
  readonly schema: z.ZodType<Definition>;
  /** Compiles valid data for requests. Reports problems that the schema can't detect. */
  readonly compile: (definition: Definition, report: ReportProblem) => T;
}

/** The form of a kind of file as JSON Schema (2020-12), for editors. */
export const operatorFileSchema = (schema: z.ZodType): Readonly<Record<string, unknown>> =>
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });

/**
 * Validates and compiles the text of a file.
 *
 * @throws {OperatorFileError} With all problems: `AG_FILE_SYNTAX` if it is not YAML, `AG_FILE_INVALID` if it does not
 *   match the schema, and the codes that the kind reports.
 */
export function parseOperatorFile<Definition, T>(
  { file, text }: YamlText,
  { schema, compile }: OperatorFileKind<Definition, T>,
): T {
  const source = parseYaml(file, text);
  const withCode = (code: string, diagnostics: readonly Diagnostic[]): FileProblem[] =>
    diagnostics.map((diagnostic) => ({ ...diagnostic, code }));
  if (source.diagnostics.length > 0)
    throw new OperatorFileError(withCode("AG_FILE_SYNTAX", source.diagnostics));
  const diagnostics: Diagnostic[] = [];
  const definition = validateFile(source, schema, () => operatorFileSchema(schema), diagnostics);
  const problems = withCode("AG_FILE_INVALID", diagnostics);
  const compiled =
    definition === undefined
      ? undefined
      : compile(definition, (code, path, message) =>
          problems.push({ ...source.diagnosticAt(path, message), code }),
        );
  if (problems.length > 0 || compiled === undefined) throw new OperatorFileError(problems);
  return compiled;
}

const unreadable = (file: string, code: string, message: string): OperatorFileError =>
  new OperatorFileError([{ code, file, line: 1, column: 1, message }]);

/**
 * Reads a file.
 *
 * @throws {OperatorFileError} As {@link parseOperatorFile}; `AG_FILE_UNREADABLE` if it can't be read, and
 *   `AG_FILE_TOO_LARGE` above 4 MB.
 */
export function readOperatorFile<Definition, T>(file: string, kind: OperatorFileKind<Definition, T>): T {
  let text: string;
  try {
    text = readTextFile(file);
  } catch (error) {
    if (error instanceof UnfitFileError && error.code === "EFBIG")
      throw unreadable(file, "AG_FILE_TOO_LARGE", error.message);
    throw unreadable(file, "AG_FILE_UNREADABLE", `can't be read: ${errorText(error)}`);
  }
  return parseOperatorFile({ file, text }, kind);
}
