import { describe, expect, test } from "@jest/globals";
import { OTHER_ROUTE, pathTemplate, RouteTemplates } from "../../../src/base/routing/path-template.ts";

describe("the template of a path", () => {
  test.each([
    ["/", "/"],
    ["/orders", "/orders"],
    ["/v1/orders/4711", "/v1/orders/:id"],
    ["/v2.1/orders/4711/items/12", "/v2.1/orders/:id/items/:id"],
    ["/users/3f2504e0-4f89-11d3-9a0c-0305e82c3301", "/users/:id"],
    ["/blobs/da39a3ee5e6b4b0d3255bfef95601890afd80709", "/blobs/:id"],
    ["/files/deadbeef01", "/files/:id"],
    ["/charges/ch_1NirD82eZvKYlo2C", "/charges/:id"],
    ["/invites/dBjftJeZCVPmBzzzzqqqqwwww", "/invites/:id"],
    ["/reports/2026-03-01", "/reports/:id"],
    ["/invoices/4711.pdf", "/invoices/:id.pdf"],
    ["/swagger.json", "/swagger.json"],
    ["/users/ann%40example.org/mails", "/users/:id/mails"],
    ["/oauth2/token", "/oauth2/token"],
    ["/order-items/by_name/2fa", "/order-items/by_name/2fa"],
    ["//double//", "//double//"],
    [`/notes/${"a-very-long-title-".repeat(4)}`, "/notes/:id"],
  ])("of %s is %s", (path, template) => {
    expect(pathTemplate(path)).toBe(template);
  });
});

const LIMITS = { most: 12, perSender: 3, perNetwork: 6 };
const sender = (token: string | undefined, network = "192.0.2.1") => ({ token, network });

describe("the routes of an API without a pack", () => {
  test("are methods with templates, a HEAD being a GET", () => {
    const templates = new RouteTemplates();
    expect(templates.routeOf("HEAD", "/orders/1", 200, sender("a"))).toBe("GET /orders/:id");
  });

  test("are paths that the service has served, and those keep their route when they fail", () => {
    const templates = new RouteTemplates();
    const routeOf = (path: string, status: number | null) =>
      templates.routeOf("GET", path, status, sender("a"));
    expect(routeOf("/orders/1", 404)).toBeNull();
    expect(routeOf("/orders/1", null)).toBeNull();
    expect(routeOf("/orders/1", 200)).toBe("GET /orders/:id");
    expect(routeOf("/orders/2", 404)).toBe("GET /orders/:id");
  });

  test("are limited in number: further ones share one", () => {
    const templates = new RouteTemplates({ ...LIMITS, most: 2 });
    const routes = ["/a", "/b", "/c", "/d", "/a"].map((path) =>
      templates.routeOf("GET", path, 200, sender("a")),
    );
    expect(routes).toEqual(["GET /a", "GET /b", OTHER_ROUTE, OTHER_ROUTE, "GET /a"]);
  });

  test.each([
    ["a client, from any networks", (n: number) => sender("a", `192.0.2.${n}`), 3],
    ["a network without tokens", () => sender(undefined), 3],
    ["a network, with a made-up token in each request", (n: number) => sender(`made-up-${n}`), 6],
  ])("have a share for %s, and others still get theirs", (_, senderOf, share) => {
    const templates = new RouteTemplates(LIMITS);
    const added = Array.from({ length: 200 }, (_, n) =>
      templates.routeOf("GET", `/${"x".repeat(n % 20)}${"y".repeat(n / 20)}`, 200, senderOf(n)),
    );
    expect(new Set(added.filter((route) => route !== OTHER_ROUTE)).size).toBe(share);
    expect(templates.size).toBe(share);
    const paths = ["/a", "/b", "/c"];
    expect(paths.map((path) => templates.routeOf("GET", path, 200, sender("b", "198.51.100.1")))).toEqual(
      paths.map((path) => `GET ${path}`),
    );
    expect(templates.refused).toBe(200 - share);
  });

  test("that others have added cost nobody its share", () => {
    const templates = new RouteTemplates(LIMITS);
    const paths = ["/a", "/b", "/c"];
    for (const path of paths) templates.routeOf("GET", path, 200, sender("a"));
    for (const path of [...paths, "/d", "/e", "/f"])
      expect(templates.routeOf("GET", path, 200, sender("b"))).toBe(`GET ${path}`);
  });

  test("are reported once for a client, a network and all of them, when their share is used up", () => {
    const reported: string[] = [];
    const templates = new RouteTemplates({ ...LIMITS, most: 8 }, (of) => reported.push(of));
    const senders = ["a", "a", "b", "c"].map((token) => sender(token));
    for (const [at, from] of [...senders, sender("d", "198.51.100.1"), sender("e", "198.51.100.2")].entries())
      for (let n = 0; n < 5; n += 1)
        templates.routeOf("GET", `/${"p".repeat(n + 1)}/${"q".repeat(at)}`, 200, from);
    expect(reported).toEqual(["client", "network", "all"]);
  });

  test("have paths of a usual length, and paths that were recorded", () => {
    const templates = new RouteTemplates();
    expect(templates.routeOf("GET", `/${"a/".repeat(1000)}`, 200, sender("a"))).toBe(OTHER_ROUTE);
    expect(templates.routeOf("GET", "[redacted]", 200, sender("a"))).toBe(OTHER_ROUTE);
    expect(templates.routeOf("GET", "[redacted]", 404, sender("a"))).toBeNull();
    expect(templates.size).toBe(0);
  });
});
