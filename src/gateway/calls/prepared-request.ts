/** A prepared call to v4, with the data to translate its response and its error. */
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
  /** With query. */
  readonly path: string;
  /** Value of the filter header. */
  readonly filter?: string | undefined;
  /** Headers that pass from the client. Names are in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Without its wrapper. */
  readonly body?: JsonObject | readonly JsonObject[] | undefined;
  /** Set for a list that v4 reads by a POST. The query and the filter become the body. It counts as a read. */
  readonly search?: Route["search"];
  /** How the body is sent. Required with a body. */
  readonly format?: BodyFormat | undefined;
  /** Ends the call. Default: when the client disconnects. */
  readonly signal?: CancelSignal | undefined;
}

/** How a body is sent, and the path parameters for its wrapper. */
interface BodyFormat {
  readonly rules: UpstreamBodyFormat;
  readonly path: Readonly<Record<string, string>>;
}

/** A call to v4 with the data to translate its error. */
export interface PreparedRequest extends UpstreamRequest {
  /**
   * The values of its path, which the paths of further calls may contain: path parameters, and values of earlier
   * calls.
   */
  readonly values: Readonly<Record<string, unknown>>;
  /** Values of the calls before it. */
  readonly calls?: Readonly<Record<string, unknown>>;
  /** The version that is compared with the client's `If-Match`, if the pack makes it. */
  readonly madeTag?: string | undefined;
  /** Names of v4 members that the gateway added. */
  readonly gatewayFields: ReadonlySet<string>;
  /** The alpha body from which it was built, in its documented form. */
  readonly alpha?: JsonObject | readonly unknown[];
  /** Whether the client sent a member, by its alpha name. */
  readonly clientSent: (member: string) => boolean;
  /** Members of the alpha body that v4 does not get. */
  readonly losses?: readonly string[];
  /** The calls that replace this one, in the form for clients. */
  readonly equivalent?: string;
  /** For a route with a call for each of many ids: the ids as the client sent them, with their texts. */
  readonly ids?: readonly { readonly sent: unknown; readonly text: string }[];
  /** For a list that may be read from several upstream pages: the client's page. */
  readonly page?: ListPage;
}

/** A page of a list for the client. */
export interface ListPage {
  /** Returns the path of the list with the query of an upstream page. */
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
 * @throws {HttpError} 412 if the client has another version of the object (`If-Match`) than the call is built from
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

/** A call without a body. @param values of the path's parameters */
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
