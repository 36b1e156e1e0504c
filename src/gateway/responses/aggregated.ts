import { mapMaybe, thenMaybe } from "../../jsonata/index.ts";
import { cursorAt, printJson } from "../../base/index.ts";
import { addQuery, type Aggregation, createCatalogEntry, type Route } from "../../pack/index.ts";
import type { ResponseKind } from "../pipeline/authorized-request.ts";
import { endpointOf } from "../pipeline/stages/build-request.ts";
import { fetchAllPages, type ListRow } from "../pipeline/stages/fetch-all-pages.ts";
import { throwTranslatedError } from "./translate-error.ts";
import { requestWithoutBody } from "../pipeline/calls/prepared-request.ts";
import { readingOf, scopeOf } from "../pipeline/calls/request-scope.ts";
import { parseObject } from "../pipeline/calls/upstream-response.ts";
import { checkPage, paginate } from "./paginate.ts";

function aggregationOf({ name, aggregate }: Route): Aggregation {
  if (!aggregate) throw new Error(`${name} is not an aggregated list`);
  return aggregate;
}

/** A list that v4 mixes with other objects and cannot filter: all its pages are read, and filtered and paged here. */
export const aggregatedKind: ResponseKind<readonly ListRow[]> = {
  buildRequest(authorized) {
    const { route, parameters } = authorized.match;
    // An invalid page or filter is rejected before v4 is called.
    checkPage(authorized);
    const prepared = requestWithoutBody(endpointOf(route), parameters);
    const { writer } = authorized.services.pack.grammar;
    const { query, header } = writer.write(Object.fromEntries(route.unfiltered));
    return { ...prepared, path: addQuery(prepared.path, query), filter: header };
  },
  async callUpstream(prepared, authorized) {
    const { match } = authorized;
    const { readWrapped, lists } = match.route;
    const most = aggregationOf(match.route).maxRows;
    const list = await fetchAllPages(prepared, { most, readWrapped, lists }, authorized);
    if ("rejected" in list) return throwTranslatedError(list.rejected, match.route, prepared, authorized);
    return list.rows;
  },
  async buildResponse(rows, prepared, authorized) {
    const { match } = authorized;
    const { includesRow } = aggregationOf(match.route);
    const isIncluded = await mapMaybe(rows, ({ row, response }) =>
      includesRow(parseObject(row), scopeOf(prepared, authorized, { response, calls: {} })),
    );
    const included = rows.filter((_row, index) => isIncluded[index]);
    const entries = await mapMaybe(included, ({ row, response }) => {
      const lost = new Set<string>();
      const reading = { ...readingOf({ response, calls: {} }, prepared, authorized), lost };
      return thenMaybe(match.route.read(cursorAt(printJson(row)), reading), (text) =>
        createCatalogEntry(text, lost),
      );
    });
    return paginate(entries, authorized);
  },
};
