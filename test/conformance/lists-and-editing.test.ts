/** Lists and editing. */
import { describe, expect, test } from "@jest/globals";
import { startGateway } from "../support/gateway.ts";
import { dateTime } from "./forms.ts";
import { answer, errorOn, fetchAllRows } from "./helpers.ts";
import { startForTests } from "../support/start-for-tests.ts";

const gateway = startForTests(() => startGateway());

/** Every list of alpha that has its own path. */
const lists = [
  ["/vm/instances", "vms"],
  ["/vm/instances/5202/disks", "disks"],
  ["/datacenters", "datacenters"],
  ["/vm/distributions", "distributions"],
  ["/vm/kernels", "kernels"],
  ["/vm/types", "types"],
] as const;

describe("the envelope of a list", () => {
  test.each(lists)(
    "A-011 A-012 GET %s returns %s, page, total_pages and total_results",
    async (path, list) => {
      const { status, body } = await gateway.request(`GET ${path}`);
      expect(status).toBe(200);
      expect(Object.keys(body)).toEqual([list, "page", "total_pages", "total_results"]);
      expect(body[list].length).toBeGreaterThan(0);
      expect(body[list].every((row: unknown) => typeof row === "object" && row !== null)).toBe(true);
      for (const member of ["page", "total_pages", "total_results"]) {
        expect(Number.isInteger(body[member])).toBe(true);
      }
    },
  );

  test("A-011 of an empty list has one page", async () => {
    expect(await gateway.request("GET /vm/instances/5213/disks")).toEqual(
      answer(200, { disks: [], page: 1, total_pages: 1, total_results: 0 }),
    );
  });

  test("A-011 of one object is a list", async () => {
    const { body } = await gateway.request("GET /vm/instances", { filter: { id: 5201 } });
    expect(body).toMatchObject({ vms: [{ id: 5201 }], page: 1, total_pages: 1, total_results: 1 });
  });
});

describe("pages", () => {
  test.each(lists)("A-013 GET %s without ?page returns the first page", async (path, _list) => {
    const first = await gateway.request(`GET ${path}`);
    expect(first.body.page).toBe(1);
    expect((await gateway.request(`GET ${path}?page=1`)).body).toEqual(first.body);
  });

  test("A-013 A-016 T-3.3 the pages together contain each object once", async () => {
    const v4 = await gateway.requestV4("GET /vm/instances?page_size=100");
    const pages = await Promise.all(
      [1, 2, 3].map(async (page) => (await gateway.request(`GET /vm/instances?page=${page}`)).body),
    );
    expect(pages.map(({ page, vms }) => [page, vms.length])).toEqual([
      [1, 25],
      [2, 25],
      [3, 10],
    ]);
    expect(pages.flatMap(({ vms }) => vms).map(({ id }) => id)).toEqual(
      v4.body.data.map(({ id }: { id: number }) => id),
    );
    for (const { total_pages, total_results } of pages)
      expect([total_pages, total_results]).toEqual([3, v4.body.results]);
  });

  test("A-014 26 objects make a page of 25 and one of 1", async () => {
    const filter = { id: { "+lt": 5227 } };
    const sizes = await Promise.all(
      [1, 2].map(async (page) => (await gateway.request(`GET /vm/instances?page=${page}`, { filter })).body),
    );
    expect(
      sizes.map(({ vms, total_pages, total_results }) => [vms.length, total_pages, total_results]),
    ).toEqual([
      [25, 2, 26],
      [1, 2, 26],
    ]);
  });

  test("A-014 25 objects make one page", async () => {
    const { body } = await gateway.request("GET /vm/instances", { filter: { id: { "+lt": 5226 } } });
    expect([body.vms.length, body.total_pages, body.total_results]).toEqual([25, 1, 25]);
  });

  test.each(["page_size=100", "page_size=25&page=1", "limit=5", "per_page=100"])(
    "A-014 ?%s does not change the page size",
    async (query) => {
      expect((await gateway.request(`GET /vm/instances?${query}`)).body.vms).toHaveLength(25);
    },
  );

  test.each([
    ["", 1],
    ["?page=1", 1],
    ["?page=3", 3],
    ["?page=4", 4],
    ["?page=2&page_size=100&other=x", 2],
  ])("A-015 L-25 GET /vm/instances%s requests page %i of 25 from v4", async (query, page) => {
    gateway.takeV4Requests();
    expect((await gateway.request(`GET /vm/instances${query}`)).body.page).toBe(page);
    expect(gateway.takeV4Requests().map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET /v4/vm/instances?page=${page}&page_size=25`,
    ]);
  });

  test("A-015 a page after the last is empty", async () => {
    expect(await gateway.request("GET /vm/instances?page=4")).toEqual(
      answer(200, { vms: [], page: 4, total_pages: 3, total_results: 60 }),
    );
    expect(await gateway.request("GET /vm/types?page=4")).toEqual(
      answer(200, { types: [], page: 4, total_pages: 1, total_results: 11 }),
    );
  });

  test("A-016 totals count the filtered objects of all pages", async () => {
    const rows = await fetchAllRows(gateway, "GET /vm/instances", "vms");
    const expected = rows.filter(({ group }) => group === "shop").length;
    expect(expected).toBeGreaterThan(0);
    const { body } = await gateway.request("GET /vm/instances", { filter: { group: "shop" } });
    expect([body.total_results, body.total_pages]).toEqual([expected, 1]);
    const late = await gateway.request("GET /vm/instances?page=2", { filter: { id: { "+gt": 5210 } } });
    expect([late.body.total_results, late.body.total_pages]).toEqual([50, 2]);
  });

  describe.each(["/vm/instances", "/vm/distributions"])("of %s", (path) => {
    test.each([
      "0",
      "-1",
      "1.5",
      "abc",
      "",
      "1e1",
      "+1",
      "0x2",
      "1,2",
      "null",
      "1&page=2",
      "99999999999999999999",
    ])("A-017 ?page=%s is rejected", async (page) => {
      gateway.takeV4Requests();
      expect(await gateway.request(`GET ${path}?page=${page}`)).toEqual(errorOn(400));
      expect(gateway.takeV4Requests()).toEqual([]);
    });
  });
});

describe("editing", () => {
  test("A-018 a PUT keeps the values of omitted members", async () => {
    const path = "/vm/instances/5205";
    const before = (await gateway.request(`GET ${path}`)).body;
    gateway.takeV4Requests();
    const edited = await gateway.request(`PUT ${path}`, { body: { group: "edited" } });
    expect(gateway.takeV4Requests().find(({ method }) => method === "PUT")?.body).toEqual({
      group: "edited",
    });
    expect(edited).toEqual(answer(200, { ...before, group: "edited", updated: dateTime }));
    expect((await gateway.request(`GET ${path}`)).body).toEqual(edited.body);
  });

  test("A-018 a PUT may contain one alert of five", async () => {
    const path = "/vm/instances/5215";
    const before = (await gateway.request(`GET ${path}`)).body;
    const { body } = await gateway.request(`PUT ${path}`, { body: { alerts: { io: { threshold: 77 } } } });
    expect(body.alerts).toEqual({ ...before.alerts, io: { enabled: true, threshold: 77 } });
  });

  test.each([
    ["no member", {}],
    ["members that mean nothing", { nothing: true, errors: {} }],
    ["members that may not be edited", { id: 1, status: "offline", backups: { enabled: false } }],
  ])("A-018 A-019 a PUT with %s returns the unchanged object", async (_name, body) => {
    const before = await gateway.request("GET /vm/instances/5218");
    gateway.takeV4Requests();
    expect(await gateway.request("PUT /vm/instances/5218", { body })).toEqual(
      answer(before.status, before.body),
    );
    expect(new Set(gateway.takeV4Requests().map(({ method }) => method))).toEqual(new Set(["GET"]));
  });

  test.each<[string, unknown]>([
    ["id", 99],
    ["created", "2001-01-01T00:00:00"],
    ["updated", "2001-01-01T00:00:00"],
    ["status", "offline"],
    ["datacenter", "london"],
    ["datacenter", { id: "london" }],
    ["distribution", "vm/arch"],
    ["type", "g6-standard-8"],
    ["type", []],
    ["ipv4", ["203.0.113.1"]],
    ["ipv6", "2001:db8::1"],
    ["hypervisor", "xen"],
    ["total_transfer", 5],
    ["root_pass", "S0me-long-Passw0rd"],
    ["region", "eu-west"],
    ["tags", ["a-tag"]],
    ["watchdog_enabled", false],
    ["__proto__", { label: "polluted" }],
  ])("A-019 %s in a PUT is ignored (%j)", async (member, value) => {
    const before = (await gateway.request("GET /vm/instances/5219")).body;
    const v4Before = (await gateway.requestV4("GET /vm/instances/5219")).body;
    gateway.takeV4Requests();
    const edited = await gateway.request("PUT /vm/instances/5219", {
      raw: `{"label":"renamed","${member}":${JSON.stringify(value)}}`,
    });
    expect(gateway.takeV4Requests().find(({ method }) => method === "PUT")?.body).toEqual({
      label: "renamed",
    });
    expect(edited).toEqual(answer(200, { ...before, label: "renamed", updated: dateTime }));
    expect((await gateway.requestV4("GET /vm/instances/5219")).body).toEqual({
      ...v4Before,
      label: "renamed",
      updated: dateTime,
    });
  });
});
