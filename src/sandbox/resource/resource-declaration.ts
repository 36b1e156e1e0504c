/**
 * What a resource is: where it stands, who may see it, its fields, and what can be done with it. The
 * machinery (`endpoints.ts`) makes the HTTP endpoints out of it; nothing else knows about HTTP.
 *
 * A declaration is plain data with functions in it, and every string of it is renamed to the service's
 * own words at the start; a function takes such words from the declaration (`call.resource`) or from
 * `names.ts`, never from its own text.
 */

import type { Fields } from "../fields/field.ts";
import type { Body } from "../fields/validate-body.ts";
import type { AuthenticationMode, Caller } from "../http/authentication.ts";
import type { Upload } from "../http/http-listener.ts";
import type { FieldError } from "../http/problem.ts";
import type { RateLimit } from "../http/request-handler.ts";
import type { GrantKind, Level } from "../resources/hidden-state.ts";
import type { Shapes } from "../resources/row-types.ts";
import type { Store } from "../store/sandbox-store.ts";
import type { Id, Row } from "../store/store-table.ts";

/** Who looks, and when. */
export interface CallContext {
  readonly store: Store;
  readonly caller: Caller;
  /** The time of the call, in milliseconds. */
  readonly at: number;
}

/** One call that has passed every check of the road. */
export interface Call<T extends object = object> extends CallContext {
  readonly body: Body;
  readonly params: Readonly<Record<string, string>>;
  readonly resource: Resource;
  /** The row that the path names; of a collection, undefined. */
  readonly row?: Row<T>;
  /** The row above it in the path, outermost first. */
  readonly parents: readonly Row[];
  /** The file that came, where the endpoint takes one. */
  readonly upload?: Upload;
}

export type RowCall<T extends object = object> = Call<T> & { readonly row: Row<T> };
export type ActionCall<T extends object = object> = RowCall<T> & { readonly action: Action };

export interface CreateDeclaration<T extends object = object> {
  /** Default: the fields marked `create` or `write`. */
  readonly body?: Fields;
  /** Faults that need more than one member, or the store. Runs also where members are wrong by themselves. */
  validate?(call: Call): FieldError[];
  /** Refuses as a whole, once every member is right. */
  checkPreconditions?(call: Call): void;
  readonly event?: string;
  /** Seconds that the event is under way; whoever plans the end finishes it. */
  readonly durationSeconds?: number;
  /** Default: the next number. */
  id?(call: Call): Id;
  /** Members besides those of the body and the declared defaults. */
  computeMembers?(call: Call, id: Id): object;
  /** What follows once the row stands; `event` is the one that was left. */
  afterCreate?(call: Call, row: Row<T>, event: Id | undefined): void;
  /** Makes everything by itself, in place of all of the above from `event` on. */
  createRow?(call: Call): Row<object>;
  /** The answer, where it is not simply the row as it is always shown. */
  buildResponse?(row: Row<T>, call: Call): object;
  /** A rate of its own, counted per user beside the general one. */
  readonly rate?: RateLimit;
  /** So many beside each other. Default 50000; fewer of what is large. */
  readonly maxRows?: number;
}

export interface UpdateDeclaration<T extends object = object> {
  readonly event?: string;
  /** Beyond each member by itself. */
  validate?(call: RowCall<T>): FieldError[];
  checkPreconditions?(call: RowCall<T>): void;
  /** Runs after the members were written; `before` is a copy of the row from before. */
  afterUpdate?(call: RowCall<T>, before: T): void;
  /** Optional members that the answer leaves out. */
  buildResponse?(row: Row<T>, call: Call): object;
}

export interface DeleteDeclaration<T extends object = object> {
  readonly event?: string;
  /** Seconds that the row is shown as `deleting`; default 0. */
  readonly durationSeconds?: number;
  checkPreconditions?(call: RowCall<T>): void;
}

export interface Action<T extends object = object> {
  /** Below what the path stands: one row, the collection, or the version. Default `row`. */
  readonly on?: "row" | "collection" | "service";
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** E.g. `/boot`; on the collection and the service the whole rest of the path. */
  readonly path: string;
  readonly body?: Fields;
  readonly accepts?: "file";
  /** The event it leaves, for actions that leave one. */
  readonly event?: string;
  readonly scopes?: readonly string[];
  readonly rate?: RateLimit;
  readonly access?: AuthenticationMode;
  /** What a restricted user needs; default by method. `add`: what creating one needs. */
  readonly grant?: "read_only" | "read_write" | "add" | "none";
  validate?(call: ActionCall<T>): FieldError[];
  /** The rows that it answers are shown as rows of this resource: one (`shows`) or a list of them. */
  readonly returnsRow?: keyof Shapes;
  readonly returnsRows?: keyof Shapes;
  /** Nothing: `{}`. Null: 204. */
  run(call: ActionCall<T>): object | null | void;
}

/** What restricted users need a grant for: entities of a kind, the account as a whole, or nothing helps. */
type Grant = { readonly entity: GrantKind; readonly add: string } | "account" | "unrestricted";

export interface Resource<T extends object = object> {
  /** Names the table and the path parameter. */
  readonly name: keyof Shapes;
  /** Where its rows are, when they are those of another resource seen differently. */
  readonly table?: keyof Shapes;
  /** Of the collection, below the path of a row of `parent` where there is one. */
  readonly path: string;
  readonly parent?: keyof Shapes;
  /** `wide` ids hold a slash, `pair` ids are two segments; `single` is the one row of an account, `own` of a user. */
  readonly id: "integer" | "text" | "multiSegment" | "twoSegments" | "perAccount" | "perUser";
  /** Whose rows a caller sees. Rows with a parent are seen with it. */
  readonly owner: "account" | "user" | "everyone" | "both";
  readonly access: AuthenticationMode;
  /** Under `/v4beta` only. */
  readonly beta?: true;
  /** The scope area; without one any token will do. */
  readonly area?: string;
  /** Scopes of single verbs that differ from those of the area. */
  readonly scopes?: Partial<Record<"list" | "read" | "create" | "update" | "remove", readonly string[]>>;
  readonly grant?: Grant;
  /** What events call it. `ofParent`: they name the row above instead. */
  readonly entity?: {
    readonly type: string;
    readonly url: string;
    readonly ofParent?: true;
    id?(value: object): number;
    label?(value: object): string;
  };
  readonly fields: Fields;
  readonly list?: { readonly newestFirst?: true; rows?(call: Call): readonly Row<T>[] };
  readonly read?: true;
  /** The object as this caller sees it, where that is not simply the stored one. */
  serialize?(row: Row<T>, view: CallContext): object;
  /** Whether a restricted user sees the row, where the grant on it does not tell. */
  isVisible?(row: Row<T>, view: CallContext, level: Level): boolean;
  readonly create?: CreateDeclaration<T>;
  readonly update?: UpdateDeclaration<T>;
  readonly remove?: DeleteDeclaration<T>;
  readonly actions?: readonly Action<T>[];
  /** Runs when a planned change of a row has come; `before` is a copy of the row from before. */
  afterTransition?(row: Row<T>, store: Store, before: T): void;
  /** Runs at a time that was planned for a row (`Step.due`). */
  onDue?(row: Row<T>, store: Store, at: number): void;
  /** Runs after a row is gone. */
  afterDelete?(row: Row<object>, store: Store): void;
}
