/** The key `object` of a field: its value is an object, or a list of objects, with their own fields. */
import {
  cursorAt,
  isArrayText,
  isObject,
  itemsOf,
  type JsonText,
  resolveReference,
  type SourceLocation,
} from "../../../base/index.ts";
import { mapMaybe, type MaybePromise, thenMaybe } from "../../../jsonata/index.ts";
import { listOrFaults } from "./invalid-write.ts";
import type { LossSink, ReadContext } from "../../translation-context.ts";
import { fieldKeys, type FieldKeyContext, type ReadStep, type WriteStep } from "./field-key.ts";
import { textKey } from "../../values/key-schemas.ts";

/** Prefixes the losses of a nested object with the field that contains it. */
const prefixLosses = (field: string, lost: LossSink): LossSink => ({
  add: (loss) => lost.add(`${field}.${loss}`),
  has: (loss) => lost.has(`${field}.${loss}`),
});

function readObjects(name: string, context: FieldKeyContext, location: SourceLocation): ReadStep {
  resolveReference(location.at("object"), "object", name, context.resources);
  const { field = "" } = location.origin;
  const readOne = (text: string, reading: ReadContext): MaybePromise<JsonText> => {
    const { lost } = reading;
    const mayLose = lost !== undefined && context.mayLose(name);
    return context.objects
      .get(name)
      ?.read(cursorAt(text), mayLose ? { ...reading, lost: prefixLosses(field, lost) } : reading);
  };
  return {
    run(text, reading) {
      if (!isArrayText(text)) return readOne(text, reading);
      return thenMaybe(
        mapMaybe(itemsOf(text), (item) => readOne(item, reading)),
        (items) => `[${items.join(",")}]`,
      );
    },
    mayBeAsync: false,
  };
}

function writeObjects(name: string, { objects }: FieldKeyContext): WriteStep["run"] {
  return function write(value, writing, { changed, before } = {}): MaybePromise<unknown> {
    const change = isObject(changed) && isObject(before) ? { changed, before } : undefined;
    if (isObject(value)) return objects.get(name)?.writeObject(value, writing, change);
    if (!Array.isArray(value)) return value;
    return thenMaybe(
      mapMaybe(value, (each: unknown) => write(each, writing, undefined)),
      listOrFaults,
    );
  };
}

export const object = fieldKeys({
  schemas: {
    object: textKey("The value is an object of this resource, or a list of them.", "disk"),
  },
  read: ({ object: name }, context, location) =>
    name === undefined ? [] : [readObjects(name, context, location)],
  write({ object: name, write: expression }, context, location) {
    const isKnown =
      name !== undefined &&
      resolveReference(location.at("object"), "object", name, context.resources) !== undefined;
    // The result of an expression already has v4's form.
    if (!isKnown || expression !== undefined) return undefined;
    return { run: writeObjects(name, context), needsWhole: true };
  },
  error: ({ object: name = "" }, { objects, resources }) =>
    resources.has(name) ? { memberName: (member) => objects.get(name)?.errorField(member) } : {},
  texts: ({ object: name }) => (name === undefined ? [] : [{ read: `as the object ${name}` }]),
});
