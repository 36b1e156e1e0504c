/**
 * The declaration of a resource: its path, access rules, fields and operations, and the input of its functions, which
 * are the call and the store. `endpoints.ts` creates the HTTP endpoints from it; declarations do not depend on HTTP.
 *
 * A declaration is data with functions. All its strings are renamed to the configured product words at start-up.
 * Functions take such words from the declaration (`call.resource`) or from `product-names.ts`, never from literals.
 */

import type { Clock } from "../clock.ts";
import type { Fields, Body } from "../fields/field.ts";
import type { FieldError } from "../http/problem.ts";
import type { AuthenticationMode, Caller, RateLimit, Upload } from "../http/request-types.ts";
import type { ProductNames } from "../product-names.ts";
import type { GrantKind, Level } from "../resources/hidden-state.ts";
import type { RowTypes, UntypedRow } from "../resources/row-types.ts";
import type { Id, Row, SavedTable, Table } from "../store/store-table.ts";
import type { PendingChange, Timeline } from "../store/timeline.ts";

/** The state of the service: all rows, the pending changes and the clock. */
export interface Store {
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly names: ProductNames;
  readonly resources: readonly Resource[];
  /** Returns the table of a resource. */
  table<K extends keyof RowTypes>(name: K): Table<RowTypes[K]>;
  /** Returns a resource by its name. @throws {Error} if there is none. */
  resource(name: keyof RowTypes): Resource;
  /** Returns the resources whose rows are children of this resource's rows. */
  childResources(name: keyof RowTypes): readonly Resource[];
  save(): SavedStore;
  restore(saved: SavedStore): void;
}

export interface SavedStore {
  readonly tables: Readonly<Record<string, SavedTable>>;
  readonly ahead: readonly PendingChange[];
}

/** The caller and time of a call. */
export interface CallContext {
  readonly store: Store;
  readonly caller: Caller;
  /** The time of the call, in milliseconds. */
  readonly at: number;
}

/** A call that has passed authentication and access checks. */
export interface Call<T extends UntypedRow = UntypedRow> extends CallContext {
  readonly body: Body;
  readonly params: Readonly<Record<string, string>>;
  readonly resource: Resource;
  /** The row that the path names; undefined for a collection. */
  readonly row?: Row<T>;
  /** The parent rows in the path, outermost first. */
  readonly parents: readonly Row[];
  /** The uploaded file, if the endpoint accepts one. */
  readonly upload?: Upload;
}

export type RowCall<T extends UntypedRow = UntypedRow> = Call<T> & { readonly row: Row<T> };
export type ActionCall<T extends UntypedRow = UntypedRow> = RowCall<T> & { readonly action: Action };

export interface CreateDeclaration<T extends UntypedRow = UntypedRow> {
  /** Members of the request body. If omitted, the fields marked `create` or `write`. */
  readonly body?: Fields;
  /** Validates rules that involve several members or the store. Runs even if single members are invalid. */
  validate?(call: Call): FieldError[];
  /** Throws if the request as a whole is not allowed. Runs after validation. */
  checkPreconditions?(call: Call): void;
  readonly event?: string;
  /** Duration of the event in seconds. The scheduled change finishes it. */
  readonly durationSeconds?: number;
  /** Returns the id of the new row. If omitted, it is the next number. */
  id?(call: Call): Id;
  /** Returns members in addition to the body and the declared defaults. */
  computeMembers?(call: Call, id: Id): UntypedRow;
  /** Runs after the row was added; `event` is the id of the recorded event. */
  afterCreate?(call: Call, row: Row<T>, event: Id | undefined): void;
  /** Creates the row itself. The members from `event` to `afterCreate` are then unused. */
  createRow?(call: Call): Row;
  /** Returns the response, if it differs from the serialized row. */
  buildResponse?(row: Row<T>, call: Call): UntypedRow;
  /** A rate limit per user, in addition to the general one. */
  readonly rate?: RateLimit;
  /** Maximum rows per home. If omitted, 50000; large rows need a lower limit. */
  readonly maxRows?: number;
}

export interface UpdateDeclaration<T extends UntypedRow = UntypedRow> {
  readonly event?: string;
  /** Validates rules that involve several members or the store. */
  validate?(call: RowCall<T>): FieldError[];
  checkPreconditions?(call: RowCall<T>): void;
  /** Runs after the update; `before` is a copy of the row before it. */
  afterUpdate?(call: RowCall<T>, before: T): void;
}

export interface DeleteDeclaration<T extends UntypedRow = UntypedRow> {
  readonly event?: string;
  /** Number of seconds in status `deleting`. If omitted, 0. */
  readonly durationSeconds?: number;
  checkPreconditions?(call: RowCall<T>): void;
}

export interface Action<T extends UntypedRow = UntypedRow> {
  /** The path that the action's path is relative to: a row (the default), the collection, or the version. */
  readonly on?: "row" | "collection" | "service";
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path of the action, e.g. `/boot`. */
  readonly path: string;
  readonly body?: Fields;
  readonly accepts?: "file";
  /** The event that the action records. */
  readonly event?: string;
  readonly scopes?: readonly string[];
  readonly rate?: RateLimit;
  readonly access?: AuthenticationMode;
  /** The grant that a restricted user needs; the default depends on the method. `add` is the grant to create a row. */
  readonly grant?: "read_only" | "read_write" | "add" | "none";
  validate?(call: ActionCall<T>): FieldError[];
  /** Serializes the result as one row (`returnsRow`) or a list (`returnsRows`) of this resource. */
  readonly returnsRow?: keyof RowTypes;
  readonly returnsRows?: keyof RowTypes;
  /** Executes the action and returns its response. Undefined becomes `{}`, null becomes a 204. */
  run(call: ActionCall<T>): object | null | void;
}

/** The grant that restricted users need: a grant for an entity, or account access. `unrestricted` denies them access. */
type Grant = { readonly entity: GrantKind; readonly add: string } | "account" | "unrestricted";

export interface Resource<T extends UntypedRow = UntypedRow> {
  /** Name of the table and of the path parameter. */
  readonly name: keyof RowTypes;
  /** The table of the rows, if the resource is a view of a different resource. */
  readonly table?: keyof RowTypes;
  /** Path of the collection, relative to a row of `parent` if there is one. */
  readonly path: string;
  readonly parent?: keyof RowTypes;
  /**
   * Form of ids. `multiSegment` ids contain a slash, `twoSegments` ids are two parameters; `perAccount` and `perUser`
   * resources have one row each.
   */
  readonly id: "integer" | "text" | "multiSegment" | "twoSegments" | "perAccount" | "perUser";
  /** The rows that a caller can see. The visibility of child rows is that of their parent. */
  readonly owner: "account" | "user" | "everyone" | "both";
  readonly access: AuthenticationMode;
  /** Whether the resource is available only under `/v4beta`. */
  readonly beta?: true;
  /** Scope area of the resource. If omitted, any token is sufficient. */
  readonly area?: string;
  /** Scopes of single operations that differ from the scopes of the area. */
  readonly scopes?: Partial<Record<"list" | "read" | "create" | "update" | "remove", readonly string[]>>;
  readonly grant?: Grant;
  /** The entity in events about a row. `ofParent` selects its parent. */
  readonly entity?: {
    readonly type: string;
    readonly url: string;
    readonly ofParent?: true;
    id?(value: T): number;
    label?(value: T): string;
  };
  readonly fields: Fields;
  readonly list?: { readonly newestFirst?: true; rows?(call: Call): readonly Row<T>[] };
  readonly read?: true;
  /** Returns the object that the caller sees, if it differs from the stored one. */
  serialize?(row: Row<T>, view: CallContext): UntypedRow;
  /** Whether a restricted user sees the row, for resources whose grant is not sufficient to decide this. */
  isVisible?(row: Row<T>, view: CallContext, level: Level): boolean;
  readonly create?: CreateDeclaration<T>;
  readonly update?: UpdateDeclaration<T>;
  readonly remove?: DeleteDeclaration<T>;
  readonly actions?: readonly Action<T>[];
  /** Runs after a scheduled change was applied; `before` is a copy of the row before the change. */
  afterTransition?(row: Row<T>, store: Store, before: T): void;
  /** Runs at a time scheduled for a row (`PendingChange.due`). */
  onDue?(row: Row<T>, store: Store, at: number): void;
  /** Runs after a row was deleted. */
  afterDelete?(row: Row<T>, store: Store): void;
}

/** A request after routing, authentication and scope check. */
export interface EndpointRequest extends CallContext {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The value of the `X-Filter` header. */
  readonly filter: string | undefined;
  readonly body: Body;
  readonly upload?: Upload;
}

export interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly access: AuthenticationMode;
  readonly scopes: readonly string[];
  readonly beta?: true;
  readonly accepts?: "file";
  /** A rate limit in addition to the general one, counted per user. */
  readonly rate?: RateLimit;
  /** Executes the request and returns the response body; null for a 204. */
  run(request: EndpointRequest): unknown;
}
