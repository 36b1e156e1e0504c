import type { PackFault } from "./fault.ts";
import { namesHint } from "./nearest.ts";
import type { Told, YamlPath, YamlSource } from "./source.ts";
import { checkExpression, compile, type Expression } from "../expression/index.ts";

/** A place in a pack's file where something is being compiled, and where its faults are reported. */
export interface Place {
  at(...keys: PropertyKey[]): Place;
  /** Reports a fault here; `offset` counts characters into the text that stands here. */
  fault(told: Told, offset?: number): void;
  /** Reports a fault of the key that leads here. */
  keyFault(told: Told): void;
}

/** The top of a file; faults are added to the list. */
export function placeIn(source: YamlSource, faults: PackFault[], path: YamlPath = []): Place {
  return {
    at: (...keys) => placeIn(source, faults, [...path, ...keys]),
    fault: (told, offset) => void faults.push(source.fault(path, told, offset)),
    keyFault: (told) => void faults.push(source.keyFault(path, told)),
  };
}

/** A place whose faults nobody needs to hear of, since they are told where they stand. */
export const quiet: Place = { at: () => quiet, fault: () => undefined, keyFault: () => undefined };

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
export function expressionAt(place: Place, source: string, known: readonly string[]): Expression {
  const bound = new Set(known);
  const faults = checkExpression(source, bound);
  for (const { message, offset } of faults) place.fault(message, offset);
  return faults.length > 0 ? NEVER : compile(source, bound);
}

/** Looks a name up among the definitions that it may refer to; reports the ones there are if it is none. */
export function refer<T>(
  place: Place,
  kind: string,
  name: string,
  among: ReadonlyMap<string, T>,
): T | undefined {
  const found = among.get(name);
  if (found === undefined)
    place.fault({ message: `unknown ${kind} "${name}"`, hint: namesHint(name, [...among.keys()]) });
  return found;
}
