/** The model for comparing both documents: routes with the objects in their requests and responses. */
import type { Place } from "../../migration/index.ts";

/** A member of an object: `label`, or `price.monthly`. */
export interface Field {
  readonly name: string;
  readonly place: Place;
  readonly description: string;
  /** The object in the member, or in its list; undefined for a value. */
  readonly object: ApiObject | undefined;
  readonly isList: boolean;
}

/** An object with all its fields, by name. */
export interface ApiObject {
  /** The object's name in the document, or the last word of the path that returns it. */
  readonly name: string;
  readonly fields: Map<string, Field>;
}

/** The part of a response that contains the object or list. */
export interface Payload {
  readonly object: ApiObject | undefined;
  readonly isList: boolean;
  /** The member that contains the object or list; undefined if it is the whole response. */
  readonly member: string | undefined;
  /** Whether the response is not JSON. */
  readonly isFile: boolean;
}

export interface ApiRoute {
  readonly method: string;
  /** The path without the base path: `/books/{id}`. */
  readonly path: string;
  readonly segments: readonly string[];
  readonly payload: Payload;
  /** The members of the request body. */
  readonly body: ApiObject | undefined;
  readonly queryNames: readonly string[];
  /** The status of the first successful response. */
  readonly status: number;
  /** Whether the route needs a token. */
  readonly needsToken: boolean;
}

/** An API as its OpenAPI document describes it. */
export interface ApiDescription {
  /** The prefix of all paths. */
  readonly basePath: string;
  readonly routes: readonly ApiRoute[];
  /** Operations with a path that no route of a pack can have: `GET /files/{name}.{type}`. */
  readonly others: readonly string[];
  /** The location of the token in requests of clients. */
  readonly credentials: Readonly<Record<string, string>> | undefined;
}

export const isParameter = (segment: string): boolean => segment.startsWith("{") && segment.endsWith("}");
