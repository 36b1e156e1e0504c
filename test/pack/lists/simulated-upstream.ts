/** An upstream with one list, which pages it as a pack says. */
import { compileSetter, fillShape, type JsonObject, type Pack } from "../../../src/pack/index.ts";
import type { HttpRequest, HttpResponse, Upstream } from "../../../src/gateway/index.ts";

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

/** An upstream that has a number of items. It gives all values that the pack's shape of its lists has. */
export class SimulatedUpstream implements Upstream {
  readonly #pack: Pack;
  readonly #pages: Pack["paging"]["upstream"];
  readonly #name: string;
  readonly #total: number;

  constructor(pack: Pack, name: string, total: number) {
    this.#pack = pack;
    this.#pages = pack.paging.upstream;
    this.#name = name;
    this.#total = total;
  }

  async call({ path }: HttpRequest): Promise<HttpResponse> {
    const { linkHeader, totalHeader } = this.#pages;
    const part = this.#partOf(new URL(path, "http://upstream.invalid").searchParams);
    const links = (["next", "previous"] as const).flatMap((direction) => {
      const link = this.#linkOf(part, direction);
      return link === null ? [] : [`<${link}>; rel="${direction === "next" ? "next" : "prev"}"`];
    });
    const headers = {
      ...(linkHeader && links.length > 0 && { link: links.join(", ") }),
      ...(totalHeader !== undefined && { [totalHeader]: String(this.#total) }),
    };
    return { status: 200, headers, bytes: Buffer.from(JSON.stringify(this.#listOf(part))), ms: 0 };
  }

  async close(): Promise<void> {}

  #partOf(query: URLSearchParams): Part {
    const { style, size } = this.#pages;
    const total = this.#total;
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

  #itemAt(index: number): unknown {
    const { style } = this.#pages;
    const { item: wrapper = "$object" } = this.#pack.dialect.upstream.responses;
    const object: JsonObject = {};
    compileSetter(NUMBER)(object, index + 1);
    if (style?.kind === "cursor" && style.item !== undefined) compileSetter(style.item)(object, index + 1);
    return fillShape(wrapper, { name: this.#name, object });
  }

  /** The parameter of another page. */
  #positionOf({ start, end, count }: Part, direction: Direction): string | number | undefined {
    const { style } = this.#pages;
    const isNext = direction === "next";
    if (!style || (isNext ? end >= this.#total : start <= 0)) return undefined;
    if (style.kind === "cursor") return isNext ? `${AFTER}${end}` : `${BEFORE}${start + 1}`;
    const offset = isNext ? end : Math.max(0, start - count);
    return style.first + (style.kind === "page" ? Math.floor(offset / count) : offset);
  }

  #linkOf(part: Part, direction: Direction): string | null {
    const { style } = this.#pages;
    const position = this.#positionOf(part, direction);
    const isBefore = style?.kind === "cursor" && direction === "previous";
    const parameter = (isBefore ? style.before : undefined) ?? style?.parameter ?? "";
    return position === undefined
      ? null
      : `/list?${new URLSearchParams({ [parameter]: String(position) }).toString()}`;
  }

  #listOf(part: Part): unknown {
    const { start, end, count, isBackward } = part;
    const { style } = this.#pages;
    const total = this.#total;
    const next = this.#positionOf(part, "next") ?? null;
    const previous = this.#positionOf(part, "previous") ?? null;
    const first = style && style.kind !== "cursor" ? style.first : 1;
    return fillShape(this.#pack.lists.upstream, {
      list: this.#name,
      items: Array.from({ length: Math.max(0, end - start) }, (_, index) => this.#itemAt(start + index)),
      page: first + Math.floor(start / count),
      pages: Math.ceil(total / count),
      total,
      size: count,
      count: Math.max(0, end - start),
      offset: start,
      has_more: isBackward ? start > 0 : end < total,
      next_page: next,
      next_offset: next,
      next_cursor: next === null ? null : String(next),
      previous_page: previous,
      previous_cursor: previous === null ? null : String(previous),
      next_link: this.#linkOf(part, "next"),
      previous_link: this.#linkOf(part, "previous"),
      first_link: null,
      last_link: null,
    });
  }
}
