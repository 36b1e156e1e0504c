import { whenDone, type MaybeLater } from "../expression/index.ts";
import type { Read } from "./field.ts";
import { setter } from "./paths.ts";
import type { JsonObject, Reading } from "./reading.ts";

interface ReadField {
  readonly name: string;
  readonly read: Read;
}

/**
 * Makes one function from a v4 object to the alpha object of the given fields, in their order and with all
 * of them, whatever v4 left out. Fields whose values come later keep their places.
 */
export function compileObject(
  fields: readonly ReadField[],
): (v4: unknown, reading: Reading) => MaybeLater<JsonObject> {
  const prepared = fields.map(({ name, read }) => ({ read, set: setter(name) }));
  return function readObject(v4, reading) {
    const object: JsonObject = {};
    const late: Promise<void>[] = [];
    for (const { read, set } of prepared) {
      const value = read(v4, reading);
      if (value instanceof Promise) late.push(value.then((found) => set(object, found)));
      set(object, value instanceof Promise ? null : value);
    }
    return late.length === 0 ? object : whenDone(Promise.all(late), () => object);
  };
}
