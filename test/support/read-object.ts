import { parseJson, printJson } from "../../src/base/json/parse.ts";
import { cursorAt } from "../../src/base/json/scan.ts";
import type { JsonObject, ReadFunction, ReadContext } from "../../src/pack/translation-context.ts";

/** The alpha object that a resource makes of a v4 object. */
export async function readObject(
  { read }: { readonly read: ReadFunction },
  v4: unknown,
  reading: ReadContext,
): Promise<JsonObject> {
  return parseJson(await read(cursorAt(printJson(v4)), reading)) as JsonObject;
}
