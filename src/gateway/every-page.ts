import type { Page } from "../dialect/envelope.ts";
import { takeValue } from "../dialect/json-scan.ts";
import { openList, UnreadableAnswer } from "./answer-back.ts";
import type { Incoming } from "./call-v4.ts";
import { inParallel } from "./in-parallel.ts";
import type { Prepared, Work } from "./work.ts";

/** A list of v4 to its last page, or the answer with which v4 refused one of them. */
export type WholeList = { readonly rows: readonly unknown[] } | { readonly refused: Incoming };

type OnePage = (Page & { readonly items: readonly unknown[] }) | { readonly refused: Incoming };

/**
 * Reads every page of a v4 list, in pages as large as v4 gives them.
 *
 * @param most how many rows it may have
 * @throws {UnreadableAnswer} where it has more, or what came is no list
 */
export async function everyPage(prepared: Prepared, most: number, work: Work): Promise<WholeList> {
  const { page: parameter, v4 } = work.pack.dialect;

  async function onePage(number: number): Promise<OnePage> {
    const query = `?${parameter}=${number}&${v4.page_size.parameter}=${v4.page_size.largest}`;
    const answer = await work.call({ ...prepared, path: prepared.path + query });
    if (!answer.success) return { refused: answer };
    return openList(answer, work.rules, takeValue);
  }

  const first = await onePage(1);
  if ("refused" in first) return first;
  if (first.results > most || first.pages > Math.ceil(most / v4.page_size.largest))
    throw new UnreadableAnswer(`v4's list has ${first.results} rows, more than ${most}`);
  const others = Array.from({ length: Math.max(0, first.pages - 1) }, (_, index) => index + 2);
  const rest = await inParallel(others, onePage);
  const refused = rest.find((page) => "refused" in page);
  if (refused) return refused;
  return { rows: [first, ...rest].flatMap((page) => ("items" in page ? page.items : [])) };
}
