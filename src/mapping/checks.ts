import type { Fault } from "../dialect/refusal.ts";
import { allOf, whenDone, type MaybeLater } from "../expression/index.ts";
import { expressionAt, type Place } from "./place.ts";
import type { JsonObject } from "./reading.ts";

/** One rule that is no schema: an expression that gives the reason why `field`, or the call, is refused, or nothing. */
export interface CheckDefinition {
  readonly field?: string | undefined;
  readonly fault: string;
}

/** Compiles rules into a function that gives every fault. `known` are the variables that they may read. */
export function compileFaults(
  definitions: readonly CheckDefinition[],
  known: readonly string[],
  place: Place,
): (body: JsonObject, bindings: Readonly<Record<string, unknown>>) => MaybeLater<Fault[]> {
  const checks = definitions.map(({ field, fault }, index) => ({
    field,
    fault: expressionAt(place.at(index, "fault"), fault, known),
  }));
  return (body, bindings) =>
    whenDone(
      allOf(checks, ({ fault }) => fault.evaluate(body, bindings)),
      (reasons) =>
        checks.flatMap(({ field }, index) => {
          const reason = reasons[index];
          if (typeof reason !== "string") return [];
          return [field === undefined ? { reason } : { field, reason }];
        }),
    );
}
