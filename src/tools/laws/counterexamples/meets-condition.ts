/** The condition that a route adds to the lists of the upstream, as far as values of one item can be compared with it. */
import { isObject } from "../../../dialect/json/parse.ts";
import { valueAt } from "../../../dialect/shape.ts";
import type { JsonPath } from "./fits-schema.ts";
import type { Edits } from "./schema-values.ts";

const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null;

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Whether an item meets a condition. Other operators than `+and` and `+or` count as met. */
export function meetsCondition(condition: unknown, item: unknown): boolean {
  if (!isObject(condition)) return true;
  return Object.entries(condition).every(([name, wanted]) => {
    if (name === "+or") return listIn(wanted).some((each) => meetsCondition(each, item));
    if (name === "+and") return listIn(wanted).every((each) => meetsCondition(each, item));
    return !isScalar(wanted) || (valueAt(item, name.split(".")) ?? null) === wanted;
  });
}

/** The changes with which an item meets a condition: the first of several ways. */
export function meetCondition(condition: unknown, prefix: JsonPath): Edits {
  if (!isObject(condition)) return [];
  return Object.entries(condition).flatMap(([name, wanted]): Edits => {
    if (name === "+or") return meetCondition(listIn(wanted)[0], prefix);
    if (name === "+and") return listIn(wanted).flatMap((each) => meetCondition(each, prefix));
    return isScalar(wanted) ? [{ path: [...prefix, ...name.split(".")], value: wanted }] : [];
  });
}
