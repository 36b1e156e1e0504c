/** The shapes of responses in a draft: the shapes of most routes, and exceptions for individual routes. */
import type { ApiRoute } from "./api-description.ts";
import type { DraftResource, DraftRoute } from "./draft-model.ts";
import { inline } from "./draft-text.ts";

/** Returns the most frequent of some texts; undefined for an empty list. */
function mostFrequent(texts: readonly string[]): string | undefined {
  const counts = Map.groupBy(texts, (text) => text);
  return [...counts].toSorted((one, other) => other[1].length - one[1].length)[0]?.[0];
}

/** The shapes of responses that most routes of an API have. */
export interface Shapes {
  readonly list: string;
  readonly object: string;
}

/** Returns the shape of a response as a pack writes it, in JSON. @param listName The `list` of the resource. */
export function shapeOf(
  { payload: { member, isList, object } }: ApiRoute,
  listName: string | undefined,
): string {
  const value = isList ? "$items" : "$object";
  if (member === undefined || object === undefined) return inline(value);
  return inline({ [isList && member === listName ? "$list" : member]: value });
}

/** Returns the member that contains the list in most responses of a resource. */
export const listNameOf = (routes: readonly DraftRoute[], side: "old" | "now"): string | undefined =>
  mostFrequent(
    routes.flatMap(({ pair }) => (pair[side].payload.isList ? (pair[side].payload.member ?? []) : [])),
  );

/** Returns the shapes of most routes of one side. */
export function usualShapes(resources: readonly DraftResource[], side: "old" | "now"): Shapes {
  const shapes = (isList: boolean): string[] =>
    resources.flatMap(({ routes }) =>
      routes
        .map(({ pair }) => pair[side])
        .filter(({ payload }) => payload.object && payload.isList === isList)
        .map((route) => shapeOf(route, listNameOf(routes, side))),
    );
  return {
    list: mostFrequent(shapes(true)) ?? '"$items"',
    object: mostFrequent(shapes(false)) ?? '"$object"',
  };
}
