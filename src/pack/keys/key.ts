/** What a key of a route is: one value with all about it, or with its schema and rules alone. The registry has all of them. */
import type { z } from "zod";
import type { Json, SourceLocation } from "../../base/index.ts";
import type { RouteCall } from "../calls/call.ts";
import type { Endpoint } from "../calls/endpoint.ts";
import type { FieldRule } from "../fields/field-definition.ts";
import type { Shape } from "../values/shape.ts";
import type { PathParameterRules } from "../paths/path-parameters.ts";
import type { DialectDefinition, SharedCallDefinition } from "../schema/pack-definition.ts";
import type { KeyRule, WrittenKeys } from "../key-rules.ts";

/** What a key is compiled with: its place in the pack, and what is known of its route. */
export interface KeyContext {
  /** The location of the key. */
  readonly location: SourceLocation;
  readonly route: SourceLocation;
  readonly pack: SourceLocation;
  /** All keys of the route as the pack writes them. */
  readonly keys: WrittenKeys;
  readonly dialect: DialectDefinition;
  /** Names of the client's path parameters. */
  readonly parameters: readonly string[];
  readonly pathParameters: PathParameterRules;
  readonly names: UpstreamNames;
  /** The main call; undefined without one. */
  readonly call: Endpoint | undefined;
  /** The calls of the pack that routes share. */
  readonly shared: ReadonlyMap<string, SharedCallDefinition>;
  readonly resource: KeyResource;
  /** All resources of the pack. */
  readonly resources: ReadonlyMap<string, KeyResource>;
  /** The shapes of the client's lists. */
  readonly clientShapes: { readonly list: Shape; readonly item: Shape };
}

/** Names that braces in paths of the upstream may have. */
export interface UpstreamNames {
  /** Those that the upstream's paths and conditions of the route have. */
  readonly used: ReadonlySet<string>;
  /** Those whose values are known before the body is translated: of the path, the query, headers and `values`. */
  readonly ofHead: readonly string[];
  /** Those of the head, of `bulk` and of the body. */
  readonly ofUpstream: readonly string[];
  /** The names of calls before the main call. */
  readonly ofCallsBefore: readonly string[];
  /** All of the above. */
  readonly all: readonly string[];
}

/** What keys ask of a resource. */
export interface KeyResource {
  readonly name: string;
  /** Names of all members that bodies may have. */
  readonly inputNames: readonly string[];
  readonly fields: ReadonlyMap<string, FieldRule>;
}

/** A query parameter that a key reads. */
export interface KeyParameter {
  readonly name: string;
  /** What it does, for the message about another parameter of that name. */
  readonly use: string;
}

/** The names of the client's and the upstream's API, as the pack has them. */
export interface ApiNames {
  readonly client: string;
  readonly upstream: string;
}

/** What a key adds to the OpenAPI description of its route. */
export interface KeyDescription {
  /** More statuses of successes. */
  readonly statuses?: readonly number[];
  /** Whether responses may have another object than that of the route. */
  readonly mayBeOtherObject?: boolean;
  /** Returns the schema of the response. @param object the schema of the object of the route */
  readonly describeResponse?: (object: Json) => Json;
  /** More parameters. */
  readonly parameters?: readonly Json[];
}

/**
 * A key of a route.
 *
 * @typeParam S its schema, with the description and the example of the key
 * @typeParam C what it is compiled to
 */
export interface RouteKey<S extends z.ZodType, C> {
  readonly schema: S;
  /** What it needs, what it excludes, and where it has no effect. */
  readonly rules?: readonly KeyRule[];
  /** The definition on routes that do not have the key. */
  readonly inherit?: (context: KeyContext) => NonNullable<z.output<S>> | undefined;
  readonly compile: (definition: NonNullable<z.output<S>>, context: KeyContext) => C;
  /** The query parameters that it reads. */
  readonly parameters?: (compiled: NonNullable<C>) => readonly KeyParameter[];
  /** Reports what only the calls of all keys show. */
  readonly checkCalls?: (
    compiled: NonNullable<C>,
    calls: readonly RouteCall[],
    route: SourceLocation,
  ) => void;
  readonly openapi?: (compiled: NonNullable<C>) => KeyDescription;
  /** What the gateway does for it, for whoever calls the upstream without the gateway: whole sentences. */
  readonly guide?: (compiled: NonNullable<C>, names: ApiNames) => readonly string[];
  /** What responses lose if its calls fail. */
  readonly losses?: (compiled: NonNullable<C>, upstream: string) => readonly string[];
}

/** Defines a key of a route. */
export const routeKey = <S extends z.ZodType, C>(key: RouteKey<S, C>): RouteKey<S, C> => key;

/**
 * A key without a value of its own in a compiled route: what it says is compiled together with other keys, by
 * `routes/compile-route.ts` and the files that it calls.
 */
export type SchemaKey<S extends z.ZodType> = Pick<RouteKey<S, never>, "schema" | "rules">;

/** Defines such a key. */
export const schemaKey = <S extends z.ZodType>(key: SchemaKey<S>): SchemaKey<S> => key;
