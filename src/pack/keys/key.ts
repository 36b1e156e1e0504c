/** A key of a route: one value contains its schema, its rules, and what it does. */
import type { z } from "zod";
import type { Json, SourceLocation } from "../../base/index.ts";
import type { RouteCall } from "../calls/call.ts";
import type { KeyRule } from "../key-rules.ts";
import type { KeyContext } from "./key-context.ts";

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
interface KeyDescription {
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
 * @typeParam C its value in the compiled route. Default: its definition
 */
export interface RouteKey<S extends z.ZodType, C> {
  readonly schema: S;
  /** Required keys, excluded keys, and where the key has no effect. */
  readonly rules?: readonly KeyRule[];
  /** The definition on routes that do not have the key. */
  readonly inherit?: (context: KeyContext) => NonNullable<z.output<S>> | undefined;
  readonly compile?: (definition: NonNullable<z.output<S>>, context: KeyContext) => C;
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
export const routeKey = <S extends z.ZodType, C = NonNullable<z.output<S>>>(
  key: RouteKey<S, C>,
): RouteKey<S, C> => key;
