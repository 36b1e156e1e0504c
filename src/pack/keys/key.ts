/**
 * A key of a route. One value contains everything about it, or only its schema and rules. The registry lists all of
 * them.
 */
import type { z } from "zod";
import type { Json, SourceLocation } from "../../base/index.ts";
import type { RouteCall } from "../calls/call.ts";
import type { Endpoint } from "../calls/endpoint.ts";
import type { FieldRule } from "../fields/field-definition.ts";
import type { Shape } from "../values/shape.ts";
import type { PathParameterRules } from "../paths/path-parameters.ts";
import type { DialectDefinition, SharedCallDefinition } from "../schema/pack-definition.ts";
import type { KeyRule, WrittenKeys } from "../key-rules.ts";

/** The context in which a key is compiled: its place in the pack, and the known facts about its route. */
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
  /** Names in the upstream's paths and conditions of the route. */
  readonly used: ReadonlySet<string>;
  /** Those whose values are known before the body is translated: of the path, the query, headers and `values`. */
  readonly ofHead: readonly string[];
  /** Names in the head, in `bulk` and in the body. */
  readonly ofUpstream: readonly string[];
  /** The names of calls before the main call. */
  readonly ofCallsBefore: readonly string[];
  /** All of the above. */
  readonly all: readonly string[];
}

/** The facts about a resource for keys. */
export interface KeyResource {
  readonly name: string;
  /** Names of all members that bodies may have. */
  readonly inputNames: readonly string[];
  readonly fields: ReadonlyMap<string, FieldRule>;
}

/** A query parameter that a key reads. */
export interface KeyParameter {
  readonly name: string;
  /** Its purpose, for the message about another parameter of that name. */
  readonly use: string;
}

/** The names of the client's and the upstream's API, as the pack has them. */
export interface ApiNames {
  readonly client: string;
  readonly upstream: string;
}

/** The additions of a key to the OpenAPI description of its route. */
export interface KeyDescription {
  /** More statuses of successes. */
  readonly statuses?: readonly number[];
  /** Whether responses may contain another object than the route's. */
  readonly mayBeOtherObject?: boolean;
  /** Returns the schema of the response. @param object the schema of the object of the route */
  readonly describeResponse?: (object: Json) => Json;
  /** More parameters. */
  readonly parameters?: readonly Json[];
  /** The content of requests and of successes by media type, in place of JSON. */
  readonly requestContent?: Json;
  readonly content?: Json;
}

/**
 * A key of a route.
 *
 * @typeParam S its schema, with the description and the example of the key
 * @typeParam C what it is compiled to
 */
export interface RouteKey<S extends z.ZodType, C> {
  readonly schema: S;
  /** Required keys, excluded keys, and where the key has no effect. */
  readonly rules?: readonly KeyRule[];
  /** The definition on routes that do not have the key. */
  readonly inherit?: (context: KeyContext) => NonNullable<z.output<S>> | undefined;
  readonly compile: (definition: NonNullable<z.output<S>>, context: KeyContext) => C;
  /** The query parameters that it reads. */
  readonly parameters?: (compiled: NonNullable<C>) => readonly KeyParameter[];
  /** Reports problems that only the calls of all keys show. */
  readonly checkCalls?: (
    compiled: NonNullable<C>,
    calls: readonly RouteCall[],
    route: SourceLocation,
  ) => void;
  readonly openapi?: (compiled: NonNullable<C>) => KeyDescription;
  /**
   * The work of the gateway for the key, for programs that call the upstream without the gateway, in whole sentences.
   */
  readonly guide?: (compiled: NonNullable<C>, names: ApiNames) => readonly string[];
  /** The losses of responses if its calls fail. */
  readonly losses?: (compiled: NonNullable<C>, upstream: string) => readonly string[];
}

/** Defines a key of a route. */
export const routeKey = <S extends z.ZodType, C>(key: RouteKey<S, C>): RouteKey<S, C> => key;

/**
 * A key without its own value in a compiled route. `routes/compile-route.ts` and the files that it calls compile it
 * together with other keys.
 */
export type SchemaKey<S extends z.ZodType> = Pick<RouteKey<S, never>, "schema" | "rules">;

/** Defines such a key. */
export const schemaKey = <S extends z.ZodType>(key: SchemaKey<S>): SchemaKey<S> => key;
