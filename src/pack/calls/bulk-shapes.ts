/** The shapes of the key `bulk`: of a result, of a failure, and of the list of both. */
import { isObject, type Json, type SourceLocation } from "../../base/index.ts";
import {
  describeShape,
  fillMembers,
  fillShape,
  nameOf,
  namesIn,
  reportInArray,
  reportUnknownNames,
  type Shape,
  type ShapeValues,
} from "../values/shape.ts";

/** The names of the results in the shape of a response. */
const RESULTS = ["items", "successes", "failures"] as const;

/** The names that each shape may contain, and those of which at least one is required. */
const SHAPES = {
  success: { names: ["id", "status", "object"], required: undefined },
  failure: { names: ["id", "status", "error"], required: undefined },
  list: { names: [...RESULTS, "succeeded", "failed"], required: RESULTS },
} as const;

/** Reports names that a shape can't contain, and a list without results. */
export function reportInvalidShapes(
  definition: { readonly [shape in keyof typeof SHAPES]?: Shape },
  location: SourceLocation,
): void {
  for (const key of ["success", "failure", "list"] as const) {
    const { names, required } = SHAPES[key];
    const { [key]: shape = {} } = definition;
    reportUnknownNames(shape, names, location.at(key));
    for (const name of names) reportInArray(shape, name, location.at(key));
    if (required && !namesIn(shape).some(({ name }) => required.some((each) => each === name)))
      location.at(key).report('"$items" is missing: nothing shows the results');
  }
}

/** Matches a value in the text of a result, such as `No book {id}`. */
const NAME_IN_TEXT = /\{(id|status)\}/g;

/** Whether a part of a shape is a text that contains values. */
const isFilledText = (shape: Shape): shape is string =>
  typeof shape === "string" && nameOf(shape) === undefined && shape.search(NAME_IN_TEXT) >= 0;

/** Fills the shape of one result. @param id the id as a text */
export function fillResult(shape: Shape, values: ShapeValues, id: string): unknown {
  if (isFilledText(shape))
    return shape.replaceAll(NAME_IN_TEXT, (_whole, name: string) =>
      name === "id" ? id : String(values["status"]),
    );
  return isObject(shape)
    ? fillMembers(shape, values, (member) => fillResult(member, values, id))
    : fillShape(shape, values);
}

/** Replaces texts that contain values by the name of a value, `$text`. */
const nameTexts = (shape: Shape): Shape => {
  if (isFilledText(shape)) return "$text";
  return isObject(shape) ? fillMembers(shape, {}, nameTexts) : shape;
};

/** The shapes of a route, and the maximum number of results in a response. */
interface ResultShapes {
  readonly success: Shape;
  readonly failure: Shape;
  readonly list: Shape;
  readonly most: number;
}

/** Returns the schema of the results of many calls. @param object the schema of one object */
export function describeResults({ success, failure, list, most }: ResultShapes, object: Json): Json {
  const count = { type: "integer", minimum: 0 };
  const describe = (shape: Shape, values: Readonly<Record<string, Json>>): Json =>
    describeShape(shape, (name) => values[name] ?? {});
  const values = {
    id: { type: ["string", "integer"] },
    status: { type: "integer" },
    text: { type: "string" },
    object,
    error: {},
  };
  const [ofSuccess, ofFailure] = [describe(nameTexts(success), values), describe(nameTexts(failure), values)];
  const arrayOf = (items: Json): Json => ({ type: "array", maxItems: most, items });
  return describe(list, {
    items: arrayOf({ anyOf: [ofSuccess, ofFailure] }),
    successes: arrayOf(ofSuccess),
    failures: arrayOf(ofFailure),
    succeeded: count,
    failed: count,
  });
}
