import {
  isArrayText,
  isStringText,
  itemsOf,
  type JsonText,
  stringFromJson,
  toJsonText,
} from "../../../base/index.ts";
import type { ReadStep } from "./field-key.ts";

/**
 * Converts texts of responses: a string, and each string in a list. Any other value stays the same.
 *
 * @param convert Gets the text without its JSON. Undefined is null for the client.
 */
export function ofText(convert: (text: string) => string | undefined): ReadStep {
  function read(json: string): JsonText {
    if (isStringText(json)) return toJsonText(convert(stringFromJson(json)));
    return isArrayText(json) ? `[${itemsOf(json).map(readItem).join(",")}]` : json;
  }
  const readItem = (json: string): string => read(json) ?? "null";
  return { run: read, mayBeAsync: false };
}
