import type { SelectFields } from "../../dialect/filter/select.ts";
import type { FilterField } from "../../dialect/filter/translate.ts";
import type { Access } from "../../dialect/scopes.ts";
import { type MaybePromise } from "../../jsonata/index.ts";
import type { BodyRules } from "./body.ts";
import type { Catalog } from "./catalog.ts";
import type { RouteDefinition } from "../schema/route-definition.ts";
import { type Endpoint } from "./endpoint.ts";
import type {
  AppendFunction,
  CatalogCopy,
  CatalogEntry,
  JsonObject,
  ReadFunction,
} from "../translation-context.ts";
import type { Resource } from "./resource.ts";
import {
  type Aggregation,
  type RelatedRequest,
  type ReadAfterWrite,
  type MergePart,
  type Prerequisite,
  type TokensStep,
  type Wait,
} from "./route-steps.ts";

/** A file that a client sends: its media type, and its maximum size in bytes. */
export interface FileRule {
  readonly content_type: string;
  readonly max_bytes: number;
}

/** The response of a route for which v4 has no call. */
interface FixedError {
  readonly status: number;
  readonly reason: string;
}

/** How the response of a route is built: from one v4 object or list, from several, from the catalog cache, or as a file. */
export type RouteKind = "object" | "list" | "merged" | "aggregated" | "catalog" | "file" | "rejected";

/** One compiled alpha route: its access rule, its v4 call, and its response. All references are resolved. */
export interface Route {
  /** As the pack writes it, `GET /vm/instances/:id`. */
  readonly name: string;
  /** The object of the resource file that declares it. */
  readonly object: string;
  /** Objects that its response may have. */
  readonly responseObjects: readonly string[];
  /** Whether the path names an object. If not, an object that v4 does not find was named in the body. */
  readonly namesObject: boolean;
  readonly access: Access;
  readonly limit: "create" | undefined;
  /** If several routes share a path: whether this route serves a body. */
  readonly matchesBody: ((body: JsonObject) => MaybePromise<boolean>) | undefined;
  /** Set if the objects of the response are tokens. Their scopes are shown with alpha's levels. */
  readonly tokenLevels: TokensStep | undefined;
  /** The variant of this route for tokens without any scope; undefined if such tokens are rejected. */
  readonly withoutScopes: Route | undefined;
  /** A v4 call, a cached catalog, or an error if v4 has no such call. */
  readonly source:
    | { readonly call: Endpoint }
    | { readonly catalog: Catalog }
    | { readonly error: FixedError };
  readonly response: RouteDefinition["response"];
  readonly kind: RouteKind;
  /** Set if the request body is a file, not JSON. */
  readonly upload: FileRule | undefined;
  /** Set if the response body is a file, not JSON. */
  readonly file: { readonly content_type: string } | undefined;
  readonly list: string;
  readonly body: BodyRules | undefined;
  readonly prerequisites: readonly Prerequisite[];
  readonly wait: Wait | undefined;
  readonly readAfterWrite: ReadAfterWrite | undefined;
  readonly related: readonly RelatedRequest[];
  /** Set if all pages of v4's list are fetched, and the gateway filters, orders and pages the rows. */
  readonly aggregation: Aggregation | undefined;
  /** More v4 paths that have a part of the object. */
  readonly mergeParts: readonly MergePart[];
  /** A v4 condition that is ANDed to the client's filter. */
  readonly where: Readonly<Record<string, unknown>> | undefined;
  /** If v4 rejects only this member and the gateway had added it, the call is repeated without it. */
  readonly retryWithout: string | undefined;
  /** The alpha field of the error if v4 does not find something and does not name it. */
  readonly notFoundField: string | undefined;
  /** Name of the route that reads the object that this route edits. */
  readonly readRoute: string | undefined;
  /** Whether only the members that differ from the current object are sent. */
  readonly sendsOnlyChanges: boolean;
  /** The reason of the 400 if v4's response has no body. */
  readonly emptyError: string | undefined;
  /** The resource that declares the members of the body. */
  readonly resource: Resource;
  /** Returns the resource that translates a v4 object. */
  readonly resourceFor: (v4: unknown) => MaybePromise<Resource>;
  /** Translates a v4 object. */
  readonly read: ReadFunction;
  /** Translates the row of a list to the output buffer; undefined if a row may need a promise or a check first. */
  readonly append: AppendFunction | undefined;
  /** Returns the alpha name of the field of a v4 error. */
  readonly errorField: (v4: string) => string | undefined;
  readonly filterFields: (copy: CatalogCopy) => ReadonlyMap<string, FilterField>;
  /** Fields by which the gateway filters and orders a list itself. */
  readonly selectFields: SelectFields<CatalogEntry>;
  /** What a response of this route loses, as `field: reason`. */
  readonly losses: readonly string[];
}
