/** The routes of a pack. */
import { type SourceLocation, suggestionFor } from "../../base/index.ts";
import { createRouter, namesInPath, namesInPaths, type Router } from "../paths/router.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { Steps } from "../steps.ts";
import { compileRoute, type Route, type RouteCompileContext } from "./route.ts";
import { responseNames } from "./route-response.ts";
import { compileEnvelopes } from "../lists/envelopes.ts";
import { checkOwnErrors, checkSharedTexts } from "../errors/error-shapes.ts";
import type { Paging } from "../lists/paging.ts";
import { compilePathParameters } from "../paths/path-parameters.ts";
import type { LocatedFile } from "../load/resource-files.ts";
import type { ValueKind } from "../values/value-kind.ts";

/** All routes of a pack: by path, and by the name of the first route with the path. */
interface CompiledRoutes {
  readonly router: Router<Route[]>;
  readonly routes: Map<string, Route[]>;
}

/** Adds a route. Several routes may share a path if all but the last have a condition on the body. */
function addRoute(
  { route, method, pattern }: ReturnType<typeof compileRoute>,
  { router, routes }: CompiledRoutes,
  location: SourceLocation,
): void {
  const same = routes.get(route.name);
  if (same?.every(({ matchesBody }) => matchesBody)) {
    if (same.some(({ rateLimit }) => rateLimit !== route.rateLimit))
      location.report(
        'routes of one path must have the same "rate_limit": it applies before the body is read',
      );
    return void same.push(route);
  }
  const one = [route];
  if (router.add(method, pattern, one)) routes.set(route.name, one);
  else
    location.at("client").report({
      message: `another route serves ${method} requests for the same paths`,
      hint:
        method === "GET"
          ? "add a condition to all but the last of them: when: '$query.kind = \"new\"'"
          : 'add a condition on the body to all but the last of them: when: "password != null"',
    });
}

/** Reports routes that name a route for reading their object which does not exist. */
function reportUnknownReadRoutes(
  files: readonly LocatedFile<ResourceDefinition>[],
  routes: CompiledRoutes["routes"],
): void {
  for (const { definition, location } of files) {
    (definition.routes ?? []).forEach(({ read_route: shows }, index) => {
      if (shows === undefined || routes.has(shows)) return;
      location.at("routes", index, "read_route").report({
        message: `there is no route "${shows}"`,
        hint: suggestionFor(shows, [...routes.keys()]),
      });
    });
  }
}

/**
 * Compiles the routes of all resources. Yields after each route.
 *
 * @param context `pathParameters` are those of the pack.
 * @param pack The location of `pack.yaml`.
 */
export function* compileRoutes(
  files: readonly LocatedFile<ResourceDefinition>[],
  context: Omit<RouteCompileContext, "listsOf"> & { readonly paging: Paging },
  values: ReadonlyMap<string, ValueKind>,
  pack: SourceLocation,
): Steps<CompiledRoutes> {
  const compiled: CompiledRoutes = { router: createRouter<Route[]>(), routes: new Map() };
  for (const { definition, location } of files) {
    const resource = context.resources.get(definition.object);
    const ofFile = compilePathParameters(
      definition.path_parameters ?? {},
      values,
      location.at("path_parameters"),
    );
    const pathParameters = { ...context.pathParameters, ...ofFile };
    const listsOfFile = resource && compileEnvelopes(resource, context.dialect, context.paging, location);
    if (definition.envelope) {
      const { envelope, routes = [] } = definition;
      checkOwnErrors(envelope, undefined, context.dialect, namesInPaths(routes), location.at("envelope"));
      const named = routes.map((route) => ({ ...route, parameters: namesInPath(route.client) }));
      checkSharedTexts(envelope, named, context.dialect, location.at("envelope", "client"));
    }
    for (const [index, entry] of (definition.routes ?? []).entries()) {
      if (!resource || !listsOfFile) continue;
      const route = location.at("routes", index);
      const shown = context.resources.get(entry.object ?? "");
      const listsOf = shown
        ? compileEnvelopes(responseNames(shown, resource), context.dialect, context.paging, location)
        : listsOfFile;
      addRoute(
        compileRoute(entry, resource, { ...context, pathParameters, listsOf }, { route, pack }),
        compiled,
        route,
      );
      yield;
    }
  }
  reportUnknownReadRoutes(files, compiled.routes);
  return compiled;
}
