/** Marks cursors of the translation, so that each replica sends the request for a page to the side that issued its cursor. */
import { type Pack, readParameters } from "../../pack/index.ts";

/** The side of a roll-out that serves a request: the old service, or the translation. */
export type Side = "old" | "new";

/** The prefix of the translation's opaque cursors during a roll-out. */
export const CURSOR_MARK = "new:";

/**
 * Returns the query parameters that contain a cursor which only one side understands. A page number or the id of an
 * item means the same on both sides.
 */
export function cursorParameters({ routes }: Pick<Pack, "routes">): readonly string[] {
  const names = routes.flatMap(
    ({
      response,
      lists: {
        paging: { style },
      },
    }) => {
      if (response !== "list" || style?.kind !== "cursor" || style.item !== undefined) return [];
      return [style.parameter, ...(style.before === undefined ? [] : [style.before])];
    },
  );
  return [...new Set(names)];
}

/** Whether lists of a pack use such cursors. */
export const hasOpaqueCursors = (pack: Pick<Pack, "routes">): boolean => cursorParameters(pack).length > 0;

/** A query without the mark, and the side that issued its cursor. Undefined if there is no cursor. */
interface UnmarkedQuery {
  readonly query: string;
  readonly cursor: Side | undefined;
}

/** Removes the mark of the cursor from a query. @param parameters the result of {@link cursorParameters} */
export function removeCursorMark(query: string, parameters: readonly string[]): UnmarkedQuery {
  if (query === "" || parameters.length === 0) return { query, cursor: undefined };
  let cursor: Side | undefined;
  const pairs = query.split("&").map((pair) => {
    const [found] = readParameters(pair);
    if (found === undefined || !parameters.includes(found[0])) return pair;
    const [name, value] = found;
    if (!value.startsWith(CURSOR_MARK)) {
      cursor ??= "old";
      return pair;
    }
    cursor = "new";
    return `${encodeURIComponent(name)}=${encodeURIComponent(value.slice(CURSOR_MARK.length))}`;
  });
  return { query: cursor === "new" ? pairs.join("&") : query, cursor };
}
