import type { Diagnostic } from "./diagnostic.ts";
import { suggestionFor } from "./suggest.ts";
import type { Message, YamlPath, YamlSource } from "./yaml-source.ts";
import { check, compile, type Expression } from "../../jsonata/index.ts";

/** A location in a file of a pack, to which diagnostics are reported. */
export interface SourceLocation {
  at(...keys: PropertyKey[]): SourceLocation;
  /** Reports a diagnostic here. `offset` counts characters into the text at this location. */
  report(message: Message, offset?: number): void;
  /** Reports a diagnostic of the key that leads here. */
  reportKey(message: Message): void;
}

/** The top of a file. Diagnostics are added to the list. */
export function locationIn(
  source: YamlSource,
  diagnostics: Diagnostic[],
  path: YamlPath = [],
): SourceLocation {
  return {
    at: (...keys) => locationIn(source, diagnostics, [...path, ...keys]),
    report: (message, offset) => void diagnostics.push(source.diagnosticAt(path, message, offset)),
    reportKey: (message) => void diagnostics.push(source.keyDiagnosticAt(path, message)),
  };
}

/** Drops its diagnostics, because they are reported at another location. */
export const silentLocation: SourceLocation = {
  at: () => silentLocation,
  report: () => undefined,
  reportKey: () => undefined,
};

/** Replaces an expression with errors. It never runs, since the pack is rejected. */
const INVALID_EXPRESSION: Expression = {
  source: "",
  variables: new Set(),
  inputNames: new Map(),
  requiredVariables: new Set(),
  engine: "compiled",
  evaluate: () => undefined,
  print: () => undefined,
};

/** Checks and compiles the expression at a location. `variables` are the names that it may read. */
export function compileExpressionAt(
  location: SourceLocation,
  source: string,
  variables: readonly string[],
): Expression {
  const bound = new Set(variables);
  const errors = check(source, bound);
  for (const { message, offset } of errors) location.report(message, offset);
  return errors.length > 0 ? INVALID_EXPRESSION : compile(source, bound);
}

/** Looks up a name among the definitions that it may refer to. Reports an unknown name with a suggestion. */
export function resolveReference<T>(
  location: SourceLocation,
  kind: string,
  name: string,
  among: ReadonlyMap<string, T>,
): T | undefined {
  const found = among.get(name);
  if (found === undefined)
    location.report({ message: `unknown ${kind} "${name}"`, hint: suggestionFor(name, [...among.keys()]) });
  return found;
}
