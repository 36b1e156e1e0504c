/** The shapes of the key `bulk`: of a result, of a failure, and of the list of both. */
import { isObject, type Json, type SourceLocation, suggestionFor } from "../../../base/index.ts";
import { nameOf, namesIn, type Shape } from "../../fields/shape.ts";

/** The names of the results in the shape of a response. */
const RESULTS = ["items", "successes", "failures"] as const;

/** The names of each shape, and those of which it needs one. */
const SHAPES = {
  success: { names: ["id", "status", "object"], required: undefined },
  failure: { names: ["id", "status", "error"], required: undefined },
  list: { names: [...RESULTS, "succeeded", "failed"], required: RESULTS },
} as const;

/** Reports names that a shape can't have, and a list without results. */
export function reportInvalidShapes(
  definition: { readonly [shape in keyof typeof SHAPES]?: Shape },
  location: SourceLocation,
): void {
  for (const key of ["success", "failure", "list"] as const) {
    const { names, required } = SHAPES[key];
    const known = names.map((name) => `$${name}`);
    const used = namesIn(definition[key] ?? {});
    for (const { name, path } of used) {
      if (!known.includes(`$${name}`))
        location
          .at(key)
          .report({ message: `unknown name "$${name}"`, hint: suggestionFor(`$${name}`, known) });
      else if (path.includes("[]"))
        location.at(key).report({ message: `"$${name}" is inside of an array`, hint: "remove the brackets" });
    }
    if (required && !used.some(({ name }) => required.some((each) => each === name)))
      location.at(key).report('"$items" is missing: nothing shows the results');
  }
}

/** The schema of a shape. @param values The schemas of its names. */
function describeValues(shape: Shape, values: Readonly<Record<string, Json>>): Json {
  const name = nameOf(shape);
  if (name !== undefined) return values[name] ?? {};
  if (!isObject(shape)) return { const: shape };
  const members = Object.entries(shape).map(([key, member]) => [key, describeValues(member, values)]);
  return { type: "object", properties: Object.fromEntries(members) };
}

/** The shapes of a route, and how many results a response has at most. */
interface ResultShapes {
  readonly success: Shape;
  readonly failure: Shape;
  readonly list: Shape;
  readonly most: number;
}

/** The schema of the results of many calls. @param object The schema of one of them. */
export function describeResults({ success, failure, list, most }: ResultShapes, object: Json): Json {
  const count = { type: "integer", minimum: 0 };
  const values = { id: { type: ["string", "integer"] }, status: { type: "integer" }, object, error: {} };
  const [ofSuccess, ofFailure] = [describeValues(success, values), describeValues(failure, values)];
  const arrayOf = (items: Json): Json => ({ type: "array", maxItems: most, items });
  return describeValues(list, {
    items: arrayOf({ anyOf: [ofSuccess, ofFailure] }),
    successes: arrayOf(ofSuccess),
    failures: arrayOf(ofFailure),
    succeeded: count,
    failed: count,
  });
}
