import { type RouteKind, TranslatedError } from "../../pack/index.ts";
import type { ResponseKind } from "../request/authorized-request.ts";
import { aggregatedKind, catalogKind } from "./paginate.ts";
import { bulkKind } from "./bulk/bulk.ts";
import { fileKind } from "./file.ts";
import { listKind, objectKind } from "./object.ts";
import { pagedKind } from "./paged.ts";

/** Routes that the pack rejects, because v4 has no counterpart. */
const rejectedKind: ResponseKind<never> = {
  buildRequest({ match: { route } }) {
    const { error } = "error" in route.source ? route.source : {};
    throw new TranslatedError(error?.status ?? 404, error?.reason ?? "Not found");
  },
  callUpstream: () => Promise.reject(new Error("a rejected route makes no v4 call")),
  buildResponse: () => Promise.reject(new Error("a rejected route has no response")),
};

/** How routes of each kind call v4 and build alpha's response. */
export const RESPONSE_KINDS: Readonly<Record<RouteKind, ResponseKind<unknown>>> = {
  object: objectKind,
  list: listKind,
  paged: pagedKind,
  aggregated: aggregatedKind,
  bulk: bulkKind,
  catalog: catalogKind,
  file: fileKind,
  rejected: rejectedKind,
};
