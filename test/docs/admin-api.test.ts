/** The page of the admin API names the routes of the admin listener, and no others. */
import { readFileSync } from "node:fs";
import { expect, jest, test } from "@jest/globals";
import { Router } from "express";
import { createMetrics } from "../../src/base/metrics/metrics.ts";
import { memoryStore } from "../console/memory-store.ts";
import { adminApp } from "../support/admin-app.ts";

interface Request {
  /** Undefined for a path that the page names without a method. */
  readonly method: string | undefined;
  readonly path: string;
}

/** The requests in the page, such as `GET /api/audit/ID`. */
const documented: readonly Request[] = [
  ...readFileSync("docs/reference/admin-api.md", "utf8").matchAll(
    /`(?:(GET|POST|PUT|DELETE) )?(\/(?:api|healthz|readyz|metrics)[^`?]*)/g,
  ),
].map(([, method, path = ""]) => ({ method, path: path.replace("/NAME", "/sunset") }));

/** Routers by the path of the router or application that uses them. */
function mountedRouters(): { readonly prefix: string; readonly router: Router }[] {
  const use = jest.spyOn(Router.prototype as Router, "use");
  const report = Router().get("/", () => {});
  const metrics = createMetrics();
  adminApp({ metrics, audit: memoryStore().store, sandbox: {} as never, report, impact: report });
  metrics.close();
  const calls = use.mock.calls.map((args: unknown[], index) => ({ args, user: use.mock.contexts[index] }));
  use.mockRestore();
  function below(prefix: string, router: unknown): { prefix: string; router: Router }[] {
    const inner = calls.filter(({ user }) => user === router);
    const mounted = inner.flatMap(({ args: [path, ...handlers] }) =>
      typeof path !== "string"
        ? []
        : handlers.flatMap((each) => below(path === "/" ? prefix : prefix + path, each)),
    );
    return [{ prefix, router: router as Router }, ...mounted];
  }
  return below("", calls[0]?.user);
}

const served: readonly { readonly method: string; readonly path: string }[] = mountedRouters().flatMap(
  ({ prefix, router }) =>
    (router.stack ?? []).flatMap(({ route }) =>
      (route?.stack ?? []).map(({ method }) => ({
        method: method.toUpperCase(),
        path: prefix + String(route?.path).replace(/\/$/, ""),
      })),
    ),
);

/** Whether a request of the page is one of a route. */
const isOf = (request: Request, route: (typeof served)[number]): boolean =>
  (request.method ?? route.method) === route.method &&
  new RegExp(`^${route.path.replaceAll(/:\w+/g, "[^/]+")}$`).test(request.path);

/** Features share these routes. Each of them has only some of the items and actions. */
const isOfSomeFeatures = (path: string): boolean =>
  /^\/api\/(?:sunset|rollout|parity)\/:|^\/api\/pages\/./.test(path);

test("docs/reference/admin-api.md names only routes that the admin listener has", () => {
  expect(documented.length).toBeGreaterThan(30);
  expect(documented.filter((request) => !served.some((route) => isOf(request, route)))).toEqual([]);
});

test("docs/reference/admin-api.md names each route of the admin listener", () => {
  const ofApi = served.filter(
    ({ path }) => /^\/(?:api|healthz|readyz|metrics)(?:\/|$)/.test(path) && !isOfSomeFeatures(path),
  );
  expect(ofApi.filter((route) => !documented.some((request) => isOf(request, route)))).toEqual([]);
});
