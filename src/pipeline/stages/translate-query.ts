import { parseFilter } from "../../dialect/filter/parse.ts";
import type { Filter } from "../../dialect/filter/condition.ts";
import type { Grammar } from "../../dialect/filter/grammar.ts";
import { HttpError } from "../../dialect/http-error.ts";
import type { AlphaRequest } from "../context.ts";

/** More than any list has, and what every v4 can count to. */
const LAST_PAGE = 999_999_999;

/**
 * The page a client asks for, 1 without one. Every other parameter of a query means nothing to alpha.
 *
 * @throws {HttpError} 400 for anything but an integer from 1 (statement A-017), and for two pages at once.
 */
export function requestedPage(request: AlphaRequest, parameter: string): number {
  if (request.query === "") return 1;
  const pages = new URLSearchParams(request.query).getAll(parameter);
  const [page = "1"] = pages;
  if (pages.length > 1 || !/^\d+$/.test(page) || Number(page) === 0) {
    throw new HttpError(400, `${parameter} must be one integer, 1 or greater.`);
  }
  if (Number(page) > LAST_PAGE) throw new HttpError(400, `${parameter} must be at most ${LAST_PAGE}.`);
  return Number(page);
}

/** Node hands header bytes over as latin-1; clients write JSON in UTF-8. Bytes that are no UTF-8 stay as they are. */
function decodeHeader(line: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(line, "latin1"));
  } catch {
    return line;
  }
}

/**
 * The filter of a request, read in alpha's grammar.
 *
 * @throws {HttpError} 400 for a filter that can't be read, and for two header lines, which are a fault and not a list.
 */
export function requestedFilter(request: AlphaRequest, grammar: Grammar): Filter | undefined {
  const lines = request.headers[grammar.header.toLowerCase()] ?? [];
  if (lines.length > 1) throw new HttpError(400, `There is more than one ${grammar.header} header.`);
  const [line] = lines;
  return line === undefined || line.trim() === "" ? undefined : parseFilter(decodeHeader(line), grammar);
}
