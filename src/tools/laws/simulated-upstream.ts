/** An upstream with one list, which pages it as a pack says. */
import { fillShape } from "../../dialect/shape.ts";
import { compileSetter } from "../../mapping/compile/member-paths.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { JsonObject } from "../../mapping/translation-context.ts";
import type { Upstream } from "../../upstream/client.ts";

/** The member of items with their number, from 1. */
export const NUMBER = "law_number";

/** A page of the list, and whether it was asked for as the one before a cursor. */
interface Part {
  readonly start: number;
  readonly end: number;
  /** The number of items that were asked for. */
  readonly count: number;
  readonly isBackward: boolean;
}

type Direction = "next" | "previous";

/** Opaque cursors have the number of an item, and their direction. */
const AFTER = "after-";
const BEFORE = "before-";

const textOf = (value: number | string | undefined): string | null =>
  value === undefined ? null : String(value);

/**
 * Creates an upstream that has a number of items. It gives all values that the pack's shape of its lists has.
 *
 * @param name of the resource
 */
export function simulateUpstream(
  { dialect, lists, paging: { upstream: pages } }: Pack,
  name: string,
  total: number,
): Upstream {
  const { style, size } = pages;
  const { item: wrapper = "$object" } = dialect.upstream.responses;

  function partOf(query: URLSearchParams): Part {
    const count =
      size.parameter === undefined ? size.maximum : Number(query.get(size.parameter) ?? size.maximum);
    if (!style) return { start: 0, end: total, count, isBackward: false };
    const before = style.kind === "cursor" && style.before !== undefined ? query.get(style.before) : null;
    const position = query.get(style.parameter);
    if (style.kind !== "cursor") {
      const index = Number(position ?? style.first) - style.first;
      const start = style.kind === "page" ? index * count : index;
      return { start: Math.min(start, total), end: Math.min(total, start + count), count, isBackward: false };
    }
    const cursor = before ?? position ?? `${AFTER}0`;
    const number = Number(cursor.replace(/^\D*/, ""));
    const isBackward = before !== null || cursor.startsWith(BEFORE);
    const end = isBackward ? number - 1 : Math.min(total, number + count);
    return { start: isBackward ? Math.max(0, end - count) : Math.min(total, number), end, count, isBackward };
  }

  function itemAt(index: number): unknown {
    const object: JsonObject = {};
    compileSetter(NUMBER)(object, index + 1);
    if (style?.kind === "cursor" && style.item !== undefined) compileSetter(style.item)(object, index + 1);
    return fillShape(wrapper, { name, object });
  }

  /** The parameter of another page. */
  function positionOf({ start, end, count }: Part, direction: Direction): string | number | undefined {
    const isNext = direction === "next";
    if (!style || (isNext ? end >= total : start <= 0)) return undefined;
    if (style.kind === "cursor") return isNext ? `${AFTER}${end}` : `${BEFORE}${start + 1}`;
    const offset = isNext ? end : Math.max(0, start - count);
    return style.first + (style.kind === "page" ? Math.floor(offset / count) : offset);
  }

  const linkOf = (part: Part, direction: Direction): string | null => {
    const position = positionOf(part, direction);
    const isBefore = style?.kind === "cursor" && direction === "previous";
    const parameter = (isBefore ? style.before : undefined) ?? style?.parameter ?? "";
    return position === undefined
      ? null
      : `/list?${new URLSearchParams({ [parameter]: String(position) }).toString()}`;
  };

  function listOf(part: Part): unknown {
    const { start, end, count, isBackward } = part;
    const [next, previous] = [positionOf(part, "next") ?? null, positionOf(part, "previous") ?? null];
    const first = style && style.kind !== "cursor" ? style.first : 1;
    return fillShape(lists.upstream, {
      list: name,
      items: Array.from({ length: Math.max(0, end - start) }, (_, index) => itemAt(start + index)),
      page: first + Math.floor(start / count),
      pages: Math.ceil(total / count),
      total,
      size: count,
      count: Math.max(0, end - start),
      offset: start,
      has_more: isBackward ? start > 0 : end < total,
      next_page: next,
      next_offset: next,
      next_cursor: textOf(next ?? undefined),
      previous_page: previous,
      previous_cursor: textOf(previous ?? undefined),
      next_link: linkOf(part, "next"),
      previous_link: linkOf(part, "previous"),
      first_link: null,
      last_link: null,
    });
  }

  return {
    async call({ path }) {
      const query = new URL(path, "http://upstream.invalid").searchParams;
      const part = partOf(query);
      const links = (["next", "previous"] as const).flatMap((direction) => {
        const link = linkOf(part, direction);
        return link === null ? [] : [`<${link}>; rel="${direction === "next" ? "next" : "prev"}"`];
      });
      const headers = {
        ...(pages.linkHeader && links.length > 0 && { link: links.join(", ") }),
        ...(pages.totalHeader !== undefined && { [pages.totalHeader]: String(total) }),
      };
      return { status: 200, headers, bytes: Buffer.from(JSON.stringify(listOf(part))), ms: 0 };
    },
    close: () => Promise.resolve(),
  };
}
