import { describe, expect, test } from "@jest/globals";
import { errorFields, items, sandboxForAllTests } from "./sandbox-service.ts";

const v4 = sandboxForAllTests({ instances: 101 });

describe("the envelope of a list", () => {
  test("V-008 V-009 has data, page, pages and results and nothing else", async () => {
    const { body } = await v4.ask("GET /vm/instances?page=2&page_size=25");
    expect(Object.keys(body).sort()).toEqual(["data", "page", "pages", "results"]);
    expect(body).toMatchObject({ page: 2, pages: 5, results: 101 });
    expect(body.data).toHaveLength(25);
  });

  test("V-008 of an empty list has [] and 0", async () => {
    const { body } = await v4.request("GET /vm/instances", { filter: { label: "nobody" } });
    expect(body).toEqual({ data: [], page: 1, pages: 0, results: 0 });
  });

  test("V-010 V-012 without parameters is page 1 of 100", async () => {
    const { body } = await v4.ask("GET /vm/instances");
    expect(body).toMatchObject({ page: 1, pages: 2, results: 101 });
    expect(body.data).toHaveLength(100);
  });

  test.each([25, 26, 99, 100])("V-013 with page_size %i contains each item once", async (size) => {
    const seen: unknown[] = [];
    const first = await v4.ask(`GET /vm/instances?page_size=${size}`);
    for (let page = 1; page <= Number(first.body.pages); page += 1) {
      const response = await v4.ask(`GET /vm/instances?page=${page}&page_size=${size}`);
      expect(items(response).length).toBeLessThanOrEqual(size);
      seen.push(...items(response).map(({ id }) => id));
    }
    expect(new Set(seen).size).toBe(101);
    expect(seen).toHaveLength(101);
  });

  test("is empty beyond the end", async () => {
    const { status, body } = await v4.ask("GET /vm/instances?page=6&page_size=25");
    expect(status).toBe(200);
    expect(body).toEqual({ data: [], page: 6, pages: 5, results: 101 });
  });

  test("is the last page for a page number that is too large", async () => {
    const { body } = await v4.ask("GET /vm/instances?page=99999999999999999999&page_size=25");
    expect(body).toMatchObject({ page: 5, results: 101 });
  });
});

test.each([
  ["page=0", ["page"]],
  ["page=-1", ["page"]],
  ["page=1.5", ["page"]],
  ["page=one", ["page"]],
  ["page=", ["page"]],
  ["page=1&page=2", ["page"]],
  ["page_size=24", ["page_size"]],
  ["page_size=101", ["page_size"]],
  ["page_size=50.5", ["page_size"]],
  ["page_size=many", ["page_size"]],
  ["page=0&page_size=0", ["page", "page_size"]],
])("V-011 ?%s is rejected with the field", async (query, named) => {
  const response = await v4.ask(`GET /vm/instances?${query}`);
  expect(response.status).toBe(400);
  expect(errorFields(response)).toEqual(named);
});
