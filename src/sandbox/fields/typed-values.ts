/** Reads values of request bodies and stored rows with their type. */

import { isObject } from "./field.ts";

type Members = Record<string, unknown>;

/** Returns an object, and an empty object for any other value, because validation continues after an invalid member. */
export function objectOf(value: unknown): Members {
  return isObject(value) ? value : {};
}

/** Returns the items of an array, each as an object; an empty array for any other value. */
export function objectsOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

/** Returns a string; `otherwise` for any other value. */
export function stringOf(value: unknown, otherwise = ""): string {
  return typeof value === "string" ? value : otherwise;
}

/** Returns the strings of a validated array, none if it is missing. @throws {Error} if it was not validated. */
export const stringsOf = listOf((item) => typeof item === "string");

/** Returns the numbers of a validated array, none if it is missing. @throws {Error} if it was not validated. */
export const numbersOf = listOf((item) => typeof item === "number");

function listOf<T>(is: (item: unknown) => item is T): (value: unknown) => T[] {
  return (value = []) => {
    if (Array.isArray(value) && value.every(is)) return value;
    throw new Error("An array of one type was expected");
  };
}
