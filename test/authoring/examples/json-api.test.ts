/** `examples/json-api`: a program of the old blog, through the gateway, at the service that speaks JSON:API. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createBlogService } from "../../../examples/json-api/service.ts";
import { startExample, type ExampleGateway } from "./example-gateway.ts";

let gateway: ExampleGateway;
beforeEach(async () => {
  gateway = await startExample("json-api", createBlogService(), { authorization: "Token demo-token" });
});
afterEach(() => gateway.stop());

describe("the posts", () => {
  test("are read to their end, with the author and the tags of each", async () => {
    const posts: { id: number; author: { name: string }; tags: string[] }[] = [];
    const ranges: (string | null)[] = [];
    for (let page = 1; page <= 3; page += 1) {
      const { status, headers, body } = await gateway.send(`GET /posts?page=${page}`);
      expect(status).toBe(200);
      posts.push(...body.posts);
      ranges.push(headers.get("content-range"));
    }
    expect(posts.map(({ id, author, tags }) => [id, author.name, tags.join(" ")])).toEqual([
      [1, "Ada", "home garden"],
      [2, "Bob", ""],
      [3, "Ada", ""],
      [4, "Bob", ""],
      [5, "Ada", ""],
    ]);
    expect(ranges).toEqual(["posts 0-2/5", "posts 3-4/5", "posts */5"]);
  });

  test("need no more requests than they have pages", async () => {
    await gateway.send("GET /posts?per_page=4");
    expect(gateway.received.filter((call) => call.includes("/articles"))).toHaveLength(2);
  });
});

describe("a new post", () => {
  const create = (post: object) => gateway.send("POST /posts", { body: { post } });

  test("is created with its author, and found at its address", async () => {
    const { status, headers, body } = await create({ title: "News", body: "None.", author_id: 2 });
    expect([status, headers.get("location")]).toEqual([201, "/posts/6"]);
    expect(body.post).toEqual({
      id: 6,
      title: "News",
      body: "None.",
      author: { id: 2, name: "Bob" },
      tags: [],
    });
    expect((await gateway.send("GET /posts/6")).body).toEqual(body);
  });

  test.each([
    ["of the service", { title: "", author_id: 9 }, { title: ["can't be blank"], author_id: ["must exist"] }],
    ["of the gateway", { title: 7 }, { title: ["Must be of type string."] }],
  ])("has errors %s by the fields of the old API", async (_what, post, errors) => {
    const { status, body } = await create(post);
    expect([status, body]).toEqual([422, { errors }]);
  });
});

test("a post that does not exist is an error without fields", async () => {
  const { status, body } = await gateway.send("GET /posts/99");
  expect([status, body]).toEqual([404, { error: "There is no such article" }]);
});
