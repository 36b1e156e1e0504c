/**
 * A blog's API in JSON:API (https://jsonapi.org): objects have their members in `attributes`, name others in `relationships`,
 * and those are beside them in `included`. Pages have at most two articles.
 *
 * `node service.ts` starts it on port 9003, or on that of `PORT`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { json as readJson } from "node:stream/consumers";

const TOKEN = "demo-token";
const TYPE = "application/vnd.api+json";
const LARGEST_PAGE = 2;

interface Article {
  readonly id: string;
  readonly headline: string;
  readonly text: string;
  readonly author: string;
  readonly tags: readonly string[];
}

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly location?: string;
}

const PEOPLE: ReadonlyMap<string, string> = new Map([
  ["1", "Ada"],
  ["2", "Bob"],
]);
const CATEGORIES = [{ id: "news", label: "News" }];
const TAGS: ReadonlyMap<string, string> = new Map([
  ["1", "home"],
  ["2", "garden"],
]);

const fail = (
  status: number,
  title: string,
  pointers: readonly (readonly [string, string])[] = [],
): Reply => ({
  status,
  body: {
    errors:
      pointers.length === 0
        ? [{ status: String(status), title }]
        : pointers.map(([pointer, detail]) => ({
            status: String(status),
            title,
            detail,
            source: { pointer },
          })),
  },
});

const toResource = ({ id, headline, text, author, tags }: Article) => ({
  type: "articles",
  id,
  attributes: { headline, text },
  relationships: {
    author: { data: { type: "people", id: author } },
    tags: { data: tags.map((tag) => ({ type: "tags", id: tag })) },
  },
});

/** A person as a reader of the blog sees it. */
const toPerson = (id: string, name = "") => ({
  type: "people",
  id,
  attributes: {
    full_name: name,
    titles: { en: "Countess", fr: "Comtesse" },
    location: { town: "London", line: "High St" },
    phone: "1",
    email: `${name.toLowerCase()}@example.com`,
  },
});

/** People, and the letters that they get. */
function replyAboutPeople(method = "", [id, member]: readonly string[]): Reply {
  const people = [...PEOPLE].map(([key, name]) => toPerson(key, name));
  if (id === undefined) return { status: 200, body: { data: people, meta: { total: people.length } } };
  const person = people.find((each) => each.id === id);
  if (!person) return fail(404, "There is no such person");
  if (method === "DELETE") return { status: 204 };
  if (member === undefined) return { status: 200, body: { data: person } };
  return { status: 200, body: { data: [{ type: "letters", id: "1" }], meta: { total: 1 } } };
}

/** Labels, which another team has written: each call has its own wrapper and its own pages. */
function replyAboutLabels([id, member]: readonly string[], query: URLSearchParams): Reply {
  const all = [...TAGS.values()].map((text) => ({ text }));
  if (id === undefined) {
    const [number, size] = [Number(query.get("page[number]") ?? 1), Number(query.get("page[size]") ?? 2)];
    return { status: 200, body: { labels: all.slice((number - 1) * size, number * size) } };
  }
  if (id === "popular") return { status: 200, body: all };
  if (id === "latest") {
    const [skip, take] = [Number(query.get("skip") ?? 1) - 1, Number(query.get("take") ?? 5)];
    return { status: 200, body: { labels: all.slice(skip, skip + take) } };
  }
  const label = all.find(({ text }) => text === id);
  if (!label) return fail(404, "There is no such label");
  const others = all.filter((each) => each !== label);
  if (member === "similar")
    return { status: 200, body: { result: { labels: others, total: others.length } } };
  return { status: 200, body: { label } };
}

/** The objects that articles name, each once. */
const included = (articles: readonly Article[], include: string) => [
  ...(include.includes("author")
    ? [...new Set(articles.map(({ author }) => author))].map((id) => ({
        type: "people",
        id,
        attributes: { name: PEOPLE.get(id) },
      }))
    : []),
  ...(include.includes("tags")
    ? [...new Set(articles.flatMap(({ tags }) => tags))].map((id) => ({
        type: "tags",
        id,
        attributes: { label: TAGS.get(id) },
      }))
    : []),
];

type Members = Readonly<Record<string, unknown>>;

const memberOf = (value: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>((object, key) => (object as Members | undefined)?.[key], value);

/** Checks an article that is created. Other members are ignored. */
function readArticle(body: unknown, id: string): Article | Reply {
  const data = memberOf(body, "data");
  if (memberOf(data, "type") !== "articles") return fail(409, "The type is not articles");
  const headline = memberOf(data, "attributes", "headline");
  const text = memberOf(data, "attributes", "text") ?? "";
  const author = memberOf(data, "relationships", "author", "data", "id");
  const problems: [string, string][] = [];
  if (typeof headline !== "string" || headline === "")
    problems.push(["/data/attributes/headline", "can't be blank"]);
  if (typeof author !== "string" || !PEOPLE.has(author))
    problems.push(["/data/relationships/author", "must exist"]);
  if (problems.length > 0) return fail(422, "Invalid", problems);
  const [title, content, person] = [headline, text, author].map((value) =>
    typeof value === "string" ? value : "",
  );
  return { id, headline: title ?? "", text: content ?? "", author: person ?? "", tags: [] };
}

/** Creates the service with five articles. */
export function createBlogService(): Server {
  const articles: Article[] = Array.from({ length: 5 }, (_, index) => ({
    id: String(index + 1),
    headline: `Article ${index + 1}`,
    text: "…",
    author: index % 2 === 0 ? "1" : "2",
    tags: index === 0 ? ["1", "2"] : [],
  }));

  function list(query: URLSearchParams): Reply {
    const [number, size] = [query.get("page[number]") ?? "1", query.get("page[size]") ?? LARGEST_PAGE].map(
      Number,
    );
    if (!number || !size || size > LARGEST_PAGE) return fail(400, "This page does not exist");
    const found = articles.slice((number - 1) * size, number * size);
    // An empty list has no data.
    const data = found.length > 0 ? { data: found.map(toResource) } : {};
    const others = included(found, query.get("include") ?? "");
    return { status: 200, body: { ...data, included: others, meta: { total: articles.length } } };
  }

  async function reply(request: IncomingMessage): Promise<Reply> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const [, , kind, ...rest] = pathname.split("/");
    // Categories are public.
    if (kind === "categories") return { status: 200, body: { result: { categories: CATEGORIES } } };
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return fail(401, "Unauthorized");
    if (kind === "people") return replyAboutPeople(request.method, rest);
    if (kind === "labels") return replyAboutLabels(rest, searchParams);
    const [id, member] = rest;
    if (kind !== "articles") return fail(404, "Not Found");
    if (request.method === "GET" && id === undefined) return list(searchParams);
    if (member === "label") return { status: 200, body: { result: { label: { text: "home" } } } };
    const include = searchParams.get("include") ?? "";
    if (request.method === "GET") {
      const article = articles.find((each) => each.id === id);
      if (!article) return fail(404, "There is no such article");
      return { status: 200, body: { data: toResource(article), included: included([article], include) } };
    }
    if (request.headers["content-type"] !== TYPE) return fail(415, "Unsupported Media Type");
    const article = readArticle(await readJson(request), String(articles.length + 1));
    if ("status" in article) return article;
    articles.push(article);
    return {
      status: 201,
      location: `/api/articles/${article.id}`,
      body: { data: toResource(article), included: included([article], include) },
    };
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body, location } = await reply(request).catch((error: unknown) =>
      fail(500, String(error)),
    );
    response.statusCode = status;
    response.setHeader("content-type", TYPE);
    if (location !== undefined) response.setHeader("location", location);
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }

  return createServer((request, response) => void respond(request, response));
}

if (import.meta.main)
  createBlogService().listen(
    Number(process.env["PORT"] ?? 9003),
    "127.0.0.1",
    function listening(this: Server) {
      console.log("The blog listens on", this.address());
    },
  );
