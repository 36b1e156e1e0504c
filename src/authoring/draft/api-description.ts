/** The model by which both documents are compared: routes with the objects that they take and return. */
import type { Place } from "../../migration/index.ts";

/** A member of an object: `label`, or `price.monthly`. */
export interface Field {
  readonly name: string;
  readonly place: Place;
  readonly description: string;
  /** The object that it has, or a list of them; undefined for a value. */
  readonly object: ApiObject | undefined;
  readonly isList: boolean;
}

/** An object with all its fields, by name. */
export interface ApiObject {
  /** Its name in the document, or the last word of the path that returns it. */
  readonly name: string;
  readonly fields: Map<string, Field>;
}

/** The part of a response that has the object or list. */
export interface Payload {
  readonly object: ApiObject | undefined;
  readonly isList: boolean;
  /** The member with the object or list; undefined if the response is the object or list itself. */
  readonly member: string | undefined;
  /** Whether the response is no JSON. */
  readonly isFile: boolean;
}

export interface ApiRoute {
  readonly method: string;
  /** Without the base path: `/books/{id}`. */
  readonly path: string;
  readonly segments: readonly string[];
  readonly payload: Payload;
  /** The members of its request body. */
  readonly body: ApiObject | undefined;
  readonly queryNames: readonly string[];
  /** The status of its first successful response. */
  readonly status: number;
  /** Whether it needs a token. */
  readonly needsToken: boolean;
}

/** An API as its OpenAPI document describes it. */
export interface ApiDescription {
  /** The prefix of all paths. */
  readonly basePath: string;
  readonly routes: readonly ApiRoute[];
  /** Operations whose path has parts that no route of a pack can have: `GET /files/{name}.{type}`. */
  readonly others: readonly string[];
  /** Where its clients have their token. */
  readonly credentials: Readonly<Record<string, string>> | undefined;
}

export const isParameter = (segment: string): boolean => segment.startsWith("{") && segment.endsWith("}");
