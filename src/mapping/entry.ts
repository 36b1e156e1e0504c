import { parseJson } from "../dialect/json.ts";
import { flat } from "../dialect/json-text.ts";
import type { CatalogEntry, JsonObject } from "./reading.ts";

/** An alpha object of its text, which is kept in one piece: it stands in many answers. */
export function entryOf(text: string): CatalogEntry {
  const whole = flat(text);
  return { object: parseJson(whole) as JsonObject, text: whole };
}
