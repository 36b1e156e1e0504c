/** A prepared call to v4, with the data for translating its response and its error. */
import {
  addQuery,
  type Endpoint,
  HttpError,
  type JsonObject,
  type ListWalk,
  type PageRequest,
  type Route,
  type UpstreamBodyFormat,
} from "../../pack/index.ts";
import type { CancelSignal } from "../upstream/cancel-signal.ts";

/** One call to v4, in v4's dialect. */
export interface UpstreamRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  /** Value of the filter header. */
  readonly filter?: string | undefined;
  /** Headers that are copied from the client. Names are in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body without its wrapper. */
  readonly body?: JsonObject | readonly JsonObject[] | undefined;
  /** Set for a list that v4 reads with a POST. The query and the filter become the body. The call is treated as a read. */
  readonly search?: Route["search"];
  /** The format of the body. Required if there is a body. */
  readonly format?: BodyFormat | undefined;
  /** Ends the call. Default: when the client disconnects. */
  readonly signal?: CancelSignal | undefined;
}

/** The format of a body, and the path parameters for its wrapper. */
interface BodyFormat {
  readonly rules: UpstreamBodyFormat;
  readonly path: Readonly<Record<string, string>>;
}

/** A call to v4, with the data for translating its error. */
export interface PreparedRequest extends UpstreamRequest {
  /**
   * The values in its path, which the paths of further calls may contain: path parameters, and values of earlier calls.
   */
  readonly values: Readonly<Record<string, unknown>>;
  /** Values of the earlier calls. */
  readonly calls?: Readonly<Record<string, unknown>>;
  /** The version that is compared with the client's `If-Match`, if the pack creates it. */
  readonly madeTag?: string | undefined;
  /** Names of v4 members that the gateway added. */
  readonly gatewayFields: ReadonlySet<string>;
  /** The alpha body that the call was built from, in its documented form. */
  readonly alpha?: JsonObject | readonly unknown[];
  /** Whether the client sent a member, identified by its alpha name. */
  readonly clientSent: (member: string) => boolean;
  /** Members of the alpha body that v4 does not receive. */
  readonly losses?: readonly string[];
  /** The calls that replace this one, in the form for clients. */
  readonly equivalent?: string;
  /** For a route that makes one call for each of many ids: the ids as the client sent them, with their texts. */
  readonly ids?: readonly { readonly sent: unknown; readonly text: string }[];
  /** For a list that may be read from several upstream pages: the client's page. */
  readonly page?: ListPage;
}

/** A page of a list for the client. */
export interface ListPage {
  /** Returns the path of the list with the query for an upstream page. */
  readonly pathOf: (query: string) => string;
  readonly request: PageRequest;
  readonly walk: ListWalk;
}

/** Adds parameters to a call, and to all pages of a list. */
export function addParameters(prepared: PreparedRequest, query: string): PreparedRequest {
  if (query === "") return prepared;
  const { path, page } = prepared;
  const pathOf = page && ((pageQuery: string) => addQuery(page.pathOf(pageQuery), query));
  return { ...prepared, path: addQuery(path, query), ...(pathOf && { page: { ...page, pathOf } }) };
}

const PRECONDITION_FAILED = 412;

/**
 * Adds the client's headers to a call.
 *
 * @throws {HttpError} 412 if the client's version of the object (`If-Match`) differs from the one that the call is
 *   built from
 */
export function addHeaders(prepared: PreparedRequest, sent: PreparedRequest["headers"]): PreparedRequest {
  if (!sent) return prepared;
  const clientTags = sent["if-match"];
  const current = prepared.headers?.["if-match"];
  const isSame = clientTags === undefined || clientTags === "*" || current === undefined;
  if (!isSame && !clientTags.split(",").some((tag) => tag.trim() === current))
    throw new HttpError(PRECONDITION_FAILED, "The object has changed.");
  return { ...prepared, headers: { ...sent, ...prepared.headers } };
}

const NO_FIELDS: ReadonlySet<string> = new Set();

/** Creates a call without a body. @param values the values of the path's parameters */
export const requestWithoutBody = (
  { method, path }: Endpoint,
  values: Readonly<Record<string, unknown>>,
): PreparedRequest => ({
  method,
  path: path(values),
  values,
  gatewayFields: NO_FIELDS,
  clientSent: () => false,
});
