import { parseJson, printJson } from "../../src/dialect/json/parse.ts";
import { cursorAt } from "../../src/dialect/json/scan.ts";
import type { JsonObject, ReadFunction, ReadContext } from "../../src/mapping/translation-context.ts";

/** The alpha object that a resource makes of a v4 object. */
export async function readObject(
  { read }: { readonly read: ReadFunction },
  v4: unknown,
  reading: ReadContext,
): Promise<JsonObject> {
  return parseJson(await read(cursorAt(printJson(v4)), reading)) as JsonObject;
}
