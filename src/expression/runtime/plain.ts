import { isExactNumber } from "../../dialect/json.ts";
import { put } from "./values.ts";

/**
 * Copies a result out of the engine: its arrays bear hidden marks, and it can be a part of the input.
 * A function is nothing in JSON, and an exact number is one value that never changes.
 */
export function plain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return typeof value === "function" ? undefined : value;
  if (Array.isArray(value)) return Array.from(value, plain);
  if (isExactNumber(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) put(copy, name, plain((value as Record<string, unknown>)[name]));
  return copy;
}
