/** The wrapping of lists on both sides. */

export interface EnvelopeNames {
  readonly page: string;
  readonly pages: string;
  readonly results: string;
}

/** One page of a list, whatever it is called. */
export interface Page {
  readonly page: number;
  readonly pages: number;
  readonly results: number;
}

const count = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** Reads v4's envelope; undefined where what came is none. */
export function openEnvelope(
  body: unknown,
  names: EnvelopeNames & { readonly items: string },
): (Page & { readonly items: readonly unknown[] }) | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const members = body as Record<string, unknown>;
  const [page, pages, results] = [names.page, names.pages, names.results].map((name) => count(members[name]));
  const items = members[names.items];
  if (page === undefined || pages === undefined || results === undefined || !Array.isArray(items))
    return undefined;
  return { items, page, pages, results };
}

/** Writes alpha's envelope. One client fails on zero pages, so there is always one (alpha 1.2). */
export function wrapList(
  items: readonly unknown[],
  { page, pages, results }: Page,
  list: string,
  names: EnvelopeNames,
): Record<string, unknown> {
  return { [list]: items, [names.page]: page, [names.pages]: Math.max(1, pages), [names.results]: results };
}
