import { describe, expect, test } from "@jest/globals";
import { OTHER_ROUTE, pathTemplate, RouteTemplates } from "../../../src/routing/path-template.ts";

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

describe("the routes of an API without a pack", () => {
  test("are methods with templates, a HEAD being a GET", () => {
    const templates = new RouteTemplates();
    expect(templates.routeOf("HEAD", "/orders/1", 200)).toBe("GET /orders/:id");
  });

  test("are paths that the service has served, and those keep their route when they fail", () => {
    const templates = new RouteTemplates();
    expect(templates.routeOf("GET", "/orders/1", 404)).toBeNull();
    expect(templates.routeOf("GET", "/orders/1", null)).toBeNull();
    expect(templates.routeOf("GET", "/orders/1", 200)).toBe("GET /orders/:id");
    expect(templates.routeOf("GET", "/orders/2", 404)).toBe("GET /orders/:id");
  });

  test("are limited in number: further ones share one", () => {
    const templates = new RouteTemplates(2);
    const routes = ["/a", "/b", "/c", "/d", "/a"].map((path) => templates.routeOf("GET", path, 200));
    expect(routes).toEqual(["GET /a", "GET /b", OTHER_ROUTE, OTHER_ROUTE, "GET /a"]);
  });

  test("have paths of a usual length", () => {
    expect(new RouteTemplates().routeOf("GET", `/${"a/".repeat(1000)}`, 200)).toBe(OTHER_ROUTE);
  });
});
