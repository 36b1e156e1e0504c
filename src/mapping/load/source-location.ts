import { basename } from "node:path";
import type { Diagnostic } from "./diagnostic.ts";
import { suggestionFor } from "./suggest.ts";
import type { Message, YamlPath, YamlSource } from "./yaml-source.ts";
import {
  check,
  compile,
  ExpressionError,
  thenMaybe,
  type Expression,
  type MaybePromise,
  type Origin,
} from "../../jsonata/index.ts";

/** A location in a file of a pack, to which diagnostics are reported. */
export interface SourceLocation {
  at(...keys: PropertyKey[]): SourceLocation;
  /** Reports a diagnostic here. `offset` counts characters into the text at this location. */
  report(message: Message, offset?: number): void;
  /** Reports a diagnostic of the key that leads here. */
  reportKey(message: Message): void;
  /** Whether a definition of this name is invalid, and was left out. */
  isRemoved(name: string): boolean;
  /** Whether an earlier build found the pack valid, so that what takes long need not be checked again. */
  readonly isChecked: boolean;
  /** The same location, which belongs to a field. */
  ofField(name: string): SourceLocation;
  /** For the errors of an expression here. */
  readonly origin: Origin;
}

/** The invalid parts of a pack that are left out. What follows from them is not reported. */
export interface RemovedParts {
  /** Names of the parts: references to them are not unknown. */
  readonly names: ReadonlySet<string>;
  /** Whether a part of the map around a path was removed. */
  isIncomplete(source: YamlSource, path: YamlPath): boolean;
}

export const NOTHING_REMOVED: RemovedParts = { names: new Set(), isIncomplete: () => false };

/** The top of a file. Diagnostics are added to the list. */
export function locationIn(
  source: YamlSource,
  diagnostics: Diagnostic[],
  removed: RemovedParts = NOTHING_REMOVED,
  path: YamlPath = [],
  field?: string,
): SourceLocation {
  function add(diagnostic: Diagnostic): void {
    if (!removed.isIncomplete(source, path)) diagnostics.push(diagnostic);
  }
  return {
    at: (...keys) => locationIn(source, diagnostics, removed, [...path, ...keys], field),
    ofField: (name) => locationIn(source, diagnostics, removed, path, name),
    isRemoved: (name) => removed.names.has(name),
    isChecked: source.isChecked,
    get origin() {
      return { place: `${basename(source.file)}:${source.lineAt(path)}`, path: path.join("."), field };
    },
    report: (message, offset) => add(source.diagnosticAt(path, message, offset)),
    reportKey: (message) => add(source.keyDiagnosticAt(path, message)),
  };
}

/** The same location without its diagnostics, because they are reported at another location. */
export const silent = (location: SourceLocation): SourceLocation => ({
  at: (...keys) => silent(location.at(...keys)),
  ofField: (name) => silent(location.ofField(name)),
  report: () => undefined,
  reportKey: () => undefined,
  isRemoved: () => true,
  isChecked: location.isChecked,
  get origin() {
    return location.origin;
  },
});

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
  const errors = location.isChecked ? [] : check(source, bound);
  for (const { message, offset } of errors) location.report(message, offset);
  return errors.length > 0 ? INVALID_EXPRESSION : compile(source, bound, location.origin);
}

/** Looks up a name among the definitions that it may refer to. Reports an unknown name with a suggestion. */
export function resolveReference<T>(
  location: SourceLocation,
  kind: string,
  name: string,
  among: ReadonlyMap<string, T>,
): T | undefined {
  const found = among.get(name);
  if (found === undefined && !location.isRemoved(name))
    location.report({ message: `unknown ${kind} "${name}"`, hint: suggestionFor(name, [...among.keys()]) });
  return found;
}

/** Evaluates an expression; returns its failure as a value. */
export function failureAsValue<T>(evaluate: () => MaybePromise<T>): MaybePromise<T | ExpressionError> {
  const toValue = (error: unknown): ExpressionError => {
    if (error instanceof ExpressionError) return error;
    throw error;
  };
  try {
    const result = evaluate();
    return result instanceof Promise ? result.catch(toValue) : result;
  } catch (error) {
    return toValue(error);
  }
}

/** Evaluates an expression that is written elsewhere for the field at a location: its errors name both. */
export function evaluateFor<T>(user: Origin, evaluate: () => MaybePromise<T>): MaybePromise<T> {
  return thenMaybe(failureAsValue(evaluate), (result) => {
    if (result instanceof ExpressionError) throw result.usedBy(user);
    return result;
  });
}
