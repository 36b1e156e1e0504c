/** Creates the HTTP endpoints of a resource from its declaration. Validators are compiled here, once. */

import * as verbs from "./row-handlers.ts";
import { scopesFor } from "../http/authentication.ts";
import type { AuthenticationMode, RateLimit } from "../http/request-types.ts";
import { type Resources, resourceChain } from "./find-rows.ts";
import { createListHandler } from "./list-handler.ts";
import type { Action, Endpoint, Resource } from "./resource-declaration.ts";
import { createActionHandler } from "./row-handlers.ts";

type Verb = "list" | "read" | "create" | "update" | "remove";

export function createEndpoints(resource: Resource, resources: Resources): Endpoint[] {
  const collection = collectionPath(resource, resources);
  const one = rowPath(resource, collection);
  const chain = resourceChain(resource, resources);
  const endpoints: Endpoint[] = [];
  const beta = resource.beta && { beta: resource.beta };
  // Anonymous callers may read public data, but can't change any data.
  const accessFor = (method: string): AuthenticationMode => (method === "GET" ? resource.access : "required");

  function add(verb: Verb, method: string, path: string, run: Endpoint["run"], rate?: RateLimit): void {
    const scopes = resource.scopes?.[verb] ?? scopesFor(resource.area, method);
    endpoints.push({ ...beta, access: accessFor(method), method, path, scopes, ...(rate && { rate }), run });
  }

  function addAction(action: Action): void {
    const { method, path, on = "row", access, accepts, rate } = action;
    const base = on === "row" ? one : on === "collection" ? collection : "";
    endpoints.push({
      ...beta,
      method,
      path: base + path,
      access: access ?? accessFor(method),
      scopes: action.scopes ?? scopesFor(resource.area, method),
      ...(accepts && { accepts }),
      ...(rate && { rate }),
      run: createActionHandler(resource, chain, action, resources),
    });
  }

  const { create, update, remove } = resource;
  if (resource.list) add("list", "GET", collection, createListHandler(resource, chain));
  if (resource.read) add("read", "GET", one, verbs.createReadHandler(resource, chain));
  if (create)
    add("create", "POST", collection, verbs.createCreateHandler(resource, chain, create), create.rate);
  if (update) add("update", "PUT", one, verbs.createUpdateHandler(resource, chain, update));
  if (remove) add("remove", "DELETE", one, verbs.createDeleteHandler(resource, chain, remove));
  resource.actions?.forEach(addAction);
  return endpoints;
}

function collectionPath(resource: Resource, resources: Resources): string {
  const parent = resource.parent && resources.get(resource.parent);
  return parent ? rowPath(parent, collectionPath(parent, resources)) + resource.path : resource.path;
}

function rowPath({ id, name }: Resource, collection: string): string {
  if (id === "perAccount" || id === "perUser") return collection;
  if (id === "twoSegments") return `${collection}/:first/:${name}`;
  return `${collection}/${id === "multiSegment" ? "*" : ":"}${name}`;
}
