/** The v4 request for one page of a list: alpha's page and filter, translated. */
import { parseFilter } from "../../dialect/filter/parse-filter.ts";
import type { Conditions, Filter } from "../../dialect/filter/condition.ts";
import type { Grammar } from "../../dialect/filter/grammar.ts";
import {
  printFilter,
  translateFilter,
  type FilterField,
  type FilterFields,
} from "../../dialect/filter/translate.ts";
import { HttpError } from "../../dialect/http-error.ts";
import { printJson } from "../../dialect/json/parse.ts";
import { readValue } from "../../dialect/json/scan.ts";
import { addQuery } from "../../mapping/compile/endpoint.ts";
import { compileGetter } from "../../mapping/compile/member-paths.ts";
import type { AuthorizedRequest } from "../authorized-request.ts";
import type { AlphaRequest } from "../context.ts";
import { throwTranslatedError } from "../translate-error.ts";
import type { PreparedRequest } from "../upstream-call.ts";
import { openListBody } from "../upstream-response.ts";

/** No list has more pages, and every v4 can count to it. */
const LAST_PAGE = 999_999_999;

/**
 * The page that a client asks for, 1 without one. Alpha ignores all other parameters of a query.
 *
 * @throws {HttpError} 400 for anything but an integer from 1 (statement A-017), and for two pages at once
 */
export function requestedPage(request: AlphaRequest, parameter: string | undefined): number {
  if (request.query === "" || parameter === undefined) return 1;
  const pages = new URLSearchParams(request.query).getAll(parameter);
  const [page = "1"] = pages;
  if (pages.length > 1 || !/^\d+$/.test(page) || Number(page) === 0)
    throw new HttpError(400, `${parameter} must be one integer, 1 or greater.`);
  if (Number(page) > LAST_PAGE) throw new HttpError(400, `${parameter} must be at most ${LAST_PAGE}.`);
  return Number(page);
}

/** Node decodes header bytes as Latin-1; clients write JSON in UTF-8. Bytes that are not UTF-8 are not changed. */
function decodeHeader(line: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(line, "latin1"));
  } catch {
    return line;
  }
}

/**
 * The filter of a request, parsed by alpha's grammar; undefined without one.
 *
 * @throws {HttpError} 400 for an invalid filter, and for two header lines
 */
export function requestedFilter(request: AlphaRequest, grammar: Grammar): Filter | undefined {
  const lines = request.headers[grammar.header.toLowerCase()] ?? [];
  if (lines.length > 1) throw new HttpError(400, `There is more than one ${grammar.header} header.`);
  const [line] = lines;
  return line === undefined || line.trim() === "" ? undefined : parseFilter(decodeHeader(line), grammar);
}

const NO_FILTER: Filter = { conditions: [] };

/** Builds the request for a page of alpha's size, so that page N is page N and totals are exact (lesson L25). */
export async function buildListRequest(
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): Promise<PreparedRequest> {
  const { request, match, services } = authorized;
  const { paging, grammar } = services.pack;
  const page = requestedPage(request, paging.parameter);
  const path = addQuery(prepared.path, paging.query(page, paging.size));
  if (!grammar) return { ...prepared, path, filter: printFilter(match.route.where) };
  const filter = requestedFilter(request, grammar) ?? NO_FILTER;
  const declared = match.route.filterFields(services.catalogs);
  const fields = await resolveFilterBoundaries(filter, declared, prepared, authorized, grammar);
  return { ...prepared, path, filter: translateFilter(filter, fields, grammar, match.route.where) };
}

/** How far back a boundary is searched. */
const MOST_PAGES = 10;

const fieldNames = (conditions: Conditions): string[] =>
  conditions.flatMap((each) => (each.kind === "field" ? [each.field] : each.members.flatMap(fieldNames)));

/**
 * Resolves the boundaries of a filter. Some fields hold for every object up to one, and for none after it: v4 is asked
 * for the number of that object, newest first.
 *
 * @returns the fields; those with a boundary have its value
 * @throws {HttpError} 400 for a filter that v4 cannot express, before v4 is called
 */
async function resolveFilterBoundaries(
  filter: Filter,
  fields: FilterFields,
  list: PreparedRequest,
  authorized: AuthorizedRequest,
  grammar: Grammar,
): Promise<FilterFields> {
  const used = new Set(fieldNames(filter.conditions));
  const bounded = [...fields].filter(
    ([name, { boundaryField }]) => boundaryField !== undefined && used.has(name),
  );
  if (bounded.length === 0) return fields;
  translateFilter(filter, fields, grammar);
  const resolved = await Promise.all(
    bounded.map(async ([name, field]) => {
      const boundary = await findBoundary(name, field, list, authorized, grammar);
      return [name, { ...field, boundary }] as const;
    }),
  );
  return new Map([...fields, ...resolved]);
}

/** The number of the newest object for which a field holds; 0 where it holds for none. */
async function findBoundary(
  name: string,
  { v4, boundaryField = "" }: FilterField,
  list: PreparedRequest,
  { match, upstream, services, report }: AuthorizedRequest,
  grammar: Grammar,
): Promise<number> {
  const { paging } = services.pack;
  const filter = printJson({
    [grammar.upstream("order_by")]: boundaryField,
    [grammar.upstream("order")]: "desc",
  });
  const [holds, numberOf] = [compileGetter(v4), compileGetter(boundaryField)];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const path = addQuery(list.path, paging.query(page, paging.largest));
    const response = await upstream.call({ ...list, path, filter });
    if (!response.success) throwTranslatedError(response, match.route, list, services.translation, report);
    const { items, pages = 1 } = openListBody(response, services.translation, readValue);
    const newest = items.find((item) => holds(item) === true);
    if (newest !== undefined) return Number(numberOf(newest));
    if (page >= pages) return 0;
  }
  throw new HttpError(400, `${name} cannot be filtered by: what it divides lies too far back.`);
}
