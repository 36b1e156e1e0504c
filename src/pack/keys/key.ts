/** A key of a route: one value contains its schema, its rules, and its effect. */
import type { z } from "zod";
import type { Json, SourceLocation } from "../../base/index.ts";
import type { RouteCall } from "../calls/call.ts";
import type { KeyRule } from "../key-rules.ts";
import type { Query } from "../paths/query.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { KeyContext } from "./key-context.ts";

/** Members by name, each with the chosen members of its value. Undefined if all members of the value are chosen. */
export interface ChosenMembers {
  readonly [name: string]: ChosenMembers | undefined;
}

/** A query parameter that a key reads. */
export interface KeyParameter {
  readonly name: string;
  /** The key's purpose, for the message about a conflicting parameter with the same name. */
  readonly use: string;
}

/** The names of the client's and the upstream's API in the pack. */
export interface ApiNames {
  readonly client: string;
  readonly upstream: string;
}

/** The additions of a key to the OpenAPI description of its route. */
export interface KeyDescription {
  /** Additional statuses of successful responses. */
  readonly statuses?: readonly number[];
  /** Whether responses may contain a different object than the route's. */
  readonly mayBeOtherObject?: boolean;
  /** Returns the schema of the response. @param object the schema of the object of the route */
  readonly describeResponse?: (object: Json) => Json;
  /** Additional parameters. */
  readonly parameters?: readonly Json[];
  /** The content of requests and of successful responses by media type, instead of JSON. */
  readonly requestContent?: Json;
  readonly content?: Json;
}

/** What a key means for comparisons of its route's responses. */
export interface KeyComparison {
  /**
   * Why the request is not repeated. `file`: the request or the response is a file. `token`: a token is issued only
   * once.
   */
  readonly obstacle?: "file" | "token";
  /** Whether successful responses are texts, and no JSON. */
  readonly isText?: boolean;
}

/**
 * A key of a route.
 *
 * @typeParam S the key's schema, with its description and example
 * @typeParam C the key's value in the compiled route. Default: its definition
 */
export interface RouteKey<S extends z.ZodType, C> {
  readonly schema: S;
  /** Required keys, excluded keys, and cases in which the key has no effect. */
  readonly rules?: readonly KeyRule[];
  /** Rules of routes that do not use the key. */
  readonly rulesWithout?: readonly KeyRule[];
  /** The definition for routes that do not use the key. */
  readonly inherit?: (context: KeyContext) => NonNullable<z.output<S>> | undefined;
  readonly compile?: (definition: NonNullable<z.output<S>>, context: KeyContext) => C;
  /** The query parameters that the key reads. */
  readonly parameters?: (compiled: NonNullable<C>) => readonly KeyParameter[];
  /** Reports problems that are only found after the calls of all keys are known. */
  readonly checkCalls?: (
    compiled: NonNullable<C>,
    calls: readonly RouteCall[],
    route: SourceLocation,
  ) => void;
  /** Reports problems of the same key of `client`, which is for all routes. @param client the location of `client` */
  readonly checkClient?: (
    dialect: DialectDefinition,
    resources: KeyContext["resources"],
    client: SourceLocation,
  ) => void;
  /** Returns the members of objects that a request chooses; undefined for all members. @throws {HttpError} 400 */
  readonly choose?: (compiled: NonNullable<C>, query: Query) => ChosenMembers | undefined;
  readonly openapi?: (compiled: NonNullable<C>) => KeyDescription;
  /**
   * Describes in whole sentences the work that the gateway does for the key, for programs that call the upstream
   * without the gateway.
   */
  readonly guide?: (compiled: NonNullable<C>, names: ApiNames) => readonly string[];
  readonly comparison?: KeyComparison;
  /** Names of the client's routes that read the object of the route. Clients may send back their responses. */
  readonly objectRoutes?: (compiled: NonNullable<C>) => readonly string[];
  /** Returns lines that describe what the gateway does for the key after some responses, for authors of a pack. */
  readonly explain?: (compiled: NonNullable<C>, names: ApiNames) => readonly string[];
  /** The losses of responses if the key's calls fail. */
  readonly losses?: (compiled: NonNullable<C>, upstream: string) => readonly string[];
}

/** Defines a key of a route. */
export const routeKey = <S extends z.ZodType, C = NonNullable<z.output<S>>>(
  key: RouteKey<S, C>,
): RouteKey<S, C> => key;
