import { parseJson, printJson } from "../../src/dialect/json.ts";
import { begins } from "../../src/dialect/json-scan.ts";
import type { JsonObject, Read, Reading } from "../../src/mapping/reading.ts";

/** The alpha object that a resource makes of a v4 object. */
export async function readObject(
  { read }: { readonly read: Read },
  v4: unknown,
  reading: Reading,
): Promise<JsonObject> {
  return parseJson(await read(begins(printJson(v4)), reading)) as JsonObject;
}
