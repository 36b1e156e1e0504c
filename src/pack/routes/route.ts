import type { Scalar } from "../values/value-kind.ts";
import type { FilterDefaults } from "../filters/default-filters.ts";
import type { QueryFilter } from "../filters/query-filter.ts";
import type { SelectFields } from "../filters/select.ts";
import type { FilterField } from "../filters/translate.ts";
import type { Access } from "../credentials/scopes.ts";
import type { MaybePromise } from "../../jsonata/index.ts";
import type { BodyRules } from "../bodies/body.ts";
import type { Loss } from "../fields/loss.ts";
import type { UpstreamBodyFormat } from "../bodies/body-format.ts";
import type { QueryRules } from "../parameters/parameters.ts";
import type { ListWriter } from "../lists/envelope.ts";
import type { ReadWrapped } from "../bodies/object-wrapper.ts";
import type { Catalog } from "../calls/compile-catalog.ts";
import type { RouteDefinition } from "./route-definition.ts";
import type { ErrorFormats } from "../errors/error-shapes.ts";
import type { RouteFailures } from "./route-failures.ts";
import type { RouteLists } from "../lists/envelopes.ts";
import type { PassedHeaders } from "../headers/headers.ts";
import type { ScopedCondition } from "../expressions/conditions.ts";
import type { Endpoint } from "../calls/endpoint.ts";
import type { Scope } from "../translation-context.ts";
import type {
  AppendFunction,
  CatalogCopy,
  CatalogEntry,
  ReadContext,
  ReadFunction,
  WriteContext,
} from "../translation-context.ts";
import type { Resource } from "./resource.ts";
import type { compileSearch } from "../parameters/search.ts";
import type { PathParameterRules } from "../paths/path-parameters.ts";
import type { Parameters } from "../paths/router.ts";
import type { CompiledKeys, KeyFacts } from "../keys/route-keys.ts";
import type { RouteKind } from "../key-rules.ts";

/** The response of a route for which v4 has no call. */
interface FixedError {
  readonly status: number;
  readonly reason: string;
}

/** One compiled alpha route: its access rule, its v4 call, and its response. All references are resolved. */
export interface Route extends RouteFailures, CompiledKeys, KeyFacts {
  /** As the pack writes it, `GET /vm/instances/:id`. */
  readonly name: string;
  /** The object of the resource file that declares it. */
  readonly object: string;
  /** Objects that its response may have. */
  readonly responseObjects: readonly string[];
  /** Whether the path names an object. If not, an object that v4 does not find was named in the body. */
  readonly namesObject: boolean;
  /** Rules of path parameters by name. */
  readonly pathParameters: PathParameterRules;
  /** Gives the path parameters the upstream's values; undefined if they are the same. */
  readonly writeParameters: ((parameters: Parameters) => MaybePromise<Parameters>) | undefined;
  readonly access: Access;
  /** If several routes share a path: whether this route serves a body. */
  readonly matchesBody: ScopedCondition | undefined;
  /** The variant of this route for tokens without any scope; undefined if such tokens are rejected. */
  readonly withoutScopes: Route | undefined;
  /** A v4 call, a cached catalog, or an error if v4 has no such call. */
  readonly source:
    | { readonly call: Endpoint }
    | { readonly catalog: Catalog }
    | { readonly error: FixedError };
  readonly response: RouteDefinition["response"];
  /** The status of successful responses. */
  readonly status: number;
  /** Headers that pass from one side to the other; undefined if none do. */
  readonly headers: PassedHeaders | undefined;
  readonly kind: RouteKind;
  /** Whether its requests only read, at the old service and at the upstream: only they may be sent to both, and sent again. */
  readonly isSafe: boolean;
  readonly list: string;
  /** Its envelopes on both sides, and how its lists are paged and read. */
  readonly lists: RouteLists;
  /** The errors of both sides, if they differ from the pack's; see `errorsOf`. */
  readonly errors: ErrorFormats | undefined;
  /** Set if the upstream reads the list by a POST: moves the query to its body. */
  readonly search:
    | { readonly move: ReturnType<typeof compileSearch>; readonly format: UpstreamBodyFormat }
    | undefined;
  readonly body: BodyRules | undefined;
  /** The use of the client's query, apart from pages and filters. */
  readonly query: QueryRules;
  /** Parses the filter of a list from the query; undefined if clients filter by a header. */
  readonly queryFilter: QueryFilter | undefined;
  /** The default filter that completes the client's filter. Undefined without one. */
  readonly filterDefaults: FilterDefaults | undefined;
  /** The upstream's values for fields by which a list is not filtered, by the upstream's names. */
  readonly unfiltered: ReadonlyMap<string, Scalar>;
  /** The keys that lead to the object in the response of the call that has its version. */
  readonly versionPath: readonly string[];
  /** A v4 condition that is ANDed to the client's filter. */
  readonly where: Readonly<Record<string, unknown>> | undefined;
  /** Gives the names in braces of `where` their values; undefined without any. */
  readonly fillWhere:
    | ((values: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>)
    | undefined;
  /** The resource that declares the members of the body. */
  readonly resource: Resource;
  /** Returns the resource that translates a v4 object. */
  readonly resourceFor: (v4: unknown, scope: Scope) => MaybePromise<Resource>;
  /** Translates a v4 object. */
  readonly read: ReadFunction;
  /**
   * The object after a write without a response body: its constants, and its values of the request. `{}` if one of
   * its fields comes from the upstream's object.
   */
  readonly readEmpty: (reading: ReadContext) => MaybePromise<string>;
  /** Translates the row of a list to the output buffer; undefined if a row may need a promise or a check first. */
  readonly append: AppendFunction | undefined;
  /** Returns the alpha name of the field of a v4 error. */
  readonly errorField: (v4: string) => string | undefined;
  readonly filterFields: (copy: CatalogCopy) => ReadonlyMap<string, FilterField>;
  /** Fields by which the gateway filters and orders a list itself. */
  readonly selectFields: (copy: CatalogCopy) => SelectFields<CatalogEntry>;
  /**
   * Translates a client's cursor, which is a member of an item, to the upstream's; undefined if the upstream's cursor is not the
   * same member.
   */
  readonly translateCursor:
    | ((cursor: string, writing: WriteContext) => MaybePromise<string | undefined>)
    | undefined;
  /** The keys that lead to the object in the upstream's response, or in an item of a list; empty without a wrapper. */
  readonly upstreamPath: readonly string[];
  /** Reads the object in the upstream's response, or in an item of a list; undefined without a wrapper. */
  readonly readWrapped: ReadWrapped | undefined;
  /** The keys that lead to the object in the client's response, or in an item of a list. */
  readonly clientPath: readonly string[];
  /** Puts the object of the response into the client's wrapper; undefined without one, and for lists. */
  readonly wrapObject: ((object: string) => string) | undefined;
  /** Writes the client's list. */
  readonly listWriter: ListWriter;
  /** The possible losses of its requests and responses, as `field: reason`. A record lists the ones that occurred. */
  readonly losses: readonly Loss[];
}
