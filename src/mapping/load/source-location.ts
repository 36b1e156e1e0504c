import type { Diagnostic } from "./diagnostic.ts";
import { suggestionFor } from "./suggest.ts";
import type { Message, YamlPath, YamlSource } from "./yaml-source.ts";
import { checkExpression, compile, type Expression } from "../../jsonata/index.ts";

/** A place in a pack's file where something is being compiled, and where its faults are reported. */
export interface SourceLocation {
  at(...keys: PropertyKey[]): SourceLocation;
  /** Reports a fault here; `offset` counts characters into the text that stands here. */
  report(told: Message, offset?: number): void;
  /** Reports a fault of the key that leads here. */
  reportKey(told: Message): void;
}

/** The top of a file; faults are added to the list. */
export function locationIn(source: YamlSource, faults: Diagnostic[], path: YamlPath = []): SourceLocation {
  return {
    at: (...keys) => locationIn(source, faults, [...path, ...keys]),
    report: (told, offset) => void faults.push(source.diagnosticAt(path, told, offset)),
    reportKey: (told) => void faults.push(source.keyDiagnosticAt(path, told)),
  };
}

/** A place whose faults nobody needs to hear of, since they are told where they stand. */
export const silentLocation: SourceLocation = {
  at: () => silentLocation,
  report: () => undefined,
  reportKey: () => undefined,
};

/** What stands for an expression that has faults: the pack is refused, so it never runs. */
const NEVER: Expression = {
  source: "",
  variables: new Set(),
  reads: new Set(),
  missingWithout: new Set(),
  engine: "compiled",
  evaluate: () => undefined,
  print: () => undefined,
};

/** Checks and compiles the expression that stands at a place. `known` are the variables it may read. */
export function compileExpressionAt(
  location: SourceLocation,
  source: string,
  known: readonly string[],
): Expression {
  const bound = new Set(known);
  const faults = checkExpression(source, bound);
  for (const { message, offset } of faults) location.report(message, offset);
  return faults.length > 0 ? NEVER : compile(source, bound);
}

/** Looks a name up among the definitions that it may refer to; reports the ones there are if it is none. */
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
