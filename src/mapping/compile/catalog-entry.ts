import { parseJson } from "../../dialect/json/parse.ts";
import { detachString } from "../../dialect/json/text.ts";
import type { CatalogEntry, JsonObject } from "../translation-context.ts";

/** An alpha object of its text, which is kept in one piece: it stands in many answers. */
export function createCatalogEntry(text: string): CatalogEntry {
  const whole = detachString(text);
  return { object: parseJson(whole) as JsonObject, text: whole };
}
