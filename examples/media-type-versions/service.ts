/**
 * Version 2 of a task tracker's API. Its version is in the path (`/v2`), the list is an array, its total is in
 * `X-Total-Count`, and changes need `If-Match`.
 *
 * `node service.ts` starts it on port 9002, or on that of `PORT`.
 */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { json as readJson } from "node:stream/consumers";

const TOKEN = "demo-token";

interface Issue {
  readonly id: number;
  readonly project: number;
  title: string;
  state: "OPEN" | "IN_PROGRESS" | "CLOSED";
  assignee: { readonly login: string } | null;
  labels: readonly string[];
  comments: readonly { readonly author: { readonly login: string }; readonly body: string }[];
  readonly createdAt: string;
}

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error response. */
class ApiError extends Error {
  readonly reply: Reply;

  constructor(
    status: number,
    code: string,
    message: string,
    details: readonly { path: string; issue: string }[] = [],
  ) {
    super(message);
    this.reply = { status, body: { error: { code, message, details } } };
  }
}

type Members = Readonly<Record<string, unknown>>;

const MEMBERS = new Set(["project", "title", "state", "assignee", "labels", "comments"]);
const PARAMETERS = new Set(["project", "state", "assignee", "createdFrom", "q", "sort", "page", "size"]);
const ORDERS = new Map<string, (one: Issue, other: Issue) => number>([
  ["createdAt", (one, other) => one.createdAt.localeCompare(other.createdAt) || one.id - other.id],
  ["title", (one, other) => one.title.localeCompare(other.title)],
]);

/** Checks the members of a body. Unknown ones are errors, so that a wrong translation shows. */
function checkMembers(body: Members): void {
  const { title, state = "OPEN", assignee = null, labels = [], comments = [] } = body;
  const problems = [
    ...Object.keys(body).flatMap((path) => (MEMBERS.has(path) ? [] : [{ path, issue: "is unknown" }])),
    ...(typeof title === "string" && title.trim() !== ""
      ? []
      : [{ path: "title", issue: "must not be blank" }]),
    ...(["OPEN", "IN_PROGRESS", "CLOSED"].includes(String(state))
      ? []
      : [{ path: "state", issue: "is not a state" }]),
    ...(assignee === null || typeof (assignee as Members)["login"] === "string"
      ? []
      : [{ path: "assignee.login", issue: "must be a text" }]),
    ...[...(labels as unknown[])].flatMap((label, index) =>
      typeof label === "string" ? [] : [{ path: `labels[${index}]`, issue: "must be a text" }],
    ),
    ...(comments as Members[]).flatMap(({ author, body: text }, index) =>
      typeof text === "string" && typeof (author as Members | undefined)?.["login"] === "string"
        ? []
        : [{ path: `comments[${index}].body`, issue: "must be a text" }],
    ),
  ];
  if (problems.length > 0) throw new ApiError(422, "INVALID", "The issue is invalid.", problems);
}

/** The entity tag of an issue: a hash of its content. */
const tagOf = (issue: Issue): string =>
  `"${createHash("sha256").update(JSON.stringify(issue)).digest("hex").slice(0, 12)}"`;

function createIssues() {
  const issues = new Map<number, Issue>();
  let lastId = 0;

  function find(id: number): Issue {
    const issue = issues.get(id);
    if (!issue) throw new ApiError(404, "NOT_FOUND", `There is no issue ${id}.`);
    return issue;
  }

  return {
    find,
    list(query: URLSearchParams): Reply {
      const unknown = [...query.keys()].find((name) => !PARAMETERS.has(name));
      if (unknown !== undefined) throw new ApiError(400, "PARAMETER", `There is no parameter ${unknown}.`);
      const { project, state, q, sort = "createdAt,asc" } = Object.fromEntries(query);
      const [assignee, createdFrom] = [query.get("assignee"), query.get("createdFrom")];
      const [page, size] = [Number(query.get("page") ?? 0), Number(query.get("size") ?? 20)];
      if (!(page >= 0 && size >= 1 && size <= 100)) throw new ApiError(400, "PAGE", "The page is not valid.");
      const [by = "", direction] = sort.split(",");
      const order = ORDERS.get(by);
      if (!order) throw new ApiError(400, "SORT", `Issues have no order ${by}.`);
      const found = [...issues.values()]
        .filter((issue) => project === undefined || issue.project === Number(project))
        .filter((issue) => state === undefined || issue.state === state)
        .filter((issue) => assignee === null || issue.assignee?.login === assignee)
        .filter((issue) => createdFrom === null || issue.createdAt >= createdFrom)
        .filter((issue) => q === undefined || issue.title.toLowerCase().includes(q.toLowerCase()))
        .sort((one, other) => (direction === "desc" ? order(other, one) : order(one, other)));
      return {
        status: 200,
        body: found.slice(page * size, (page + 1) * size),
        headers: { "x-total-count": String(found.length) },
      };
    },
    create(body: Members): Issue {
      checkMembers(body);
      const id = (lastId += 1);
      const defaults = { project: 0, state: "OPEN", assignee: null, labels: [], comments: [] };
      const createdAt = new Date(Date.UTC(2026, 0, 1, 12, id)).toISOString();
      const issue = { id, ...defaults, ...body, createdAt } as unknown as Issue;
      issues.set(id, issue);
      return issue;
    },
    change(id: number, body: Members, tag: string | undefined): Issue {
      const issue = find(id);
      if (tag === undefined) throw new ApiError(428, "PRECONDITION", "A change needs If-Match.");
      if (tag !== tagOf(issue))
        throw new ApiError(412, "CHANGED", "The issue has changed since it was read.");
      checkMembers({ title: issue.title, ...body });
      return Object.assign(issue, body);
    },
    remove: (id: number) => void issues.delete(find(id).id),
  };
}

const withTag = (status: number, issue: Issue, headers: Reply["headers"] = {}): Reply => ({
  status,
  body: issue,
  headers: { etag: tagOf(issue), ...headers },
});

function route(
  request: Pick<IncomingMessage, "method" | "headers">,
  url: URL,
  issues: ReturnType<typeof createIssues>,
  body: Members,
): Reply {
  const { method, headers } = request;
  const [path, id] = /^\/v2\/issues(?:\/(\d+))?$/.exec(url.pathname) ?? [];
  if (path === undefined) throw new ApiError(404, "NOT_FOUND", "There is no such path.");
  switch (`${method} ${id === undefined ? "list" : "one"}`) {
    case "GET list":
      return issues.list(url.searchParams);
    case "POST list": {
      const issue = issues.create(body);
      return withTag(201, issue, { location: `/v2/issues/${issue.id}` });
    }
    case "GET one": {
      const issue = issues.find(Number(id));
      const isSame = headers["if-none-match"] === tagOf(issue);
      return isSame ? { status: 304, headers: { etag: tagOf(issue) } } : withTag(200, issue);
    }
    case "PATCH one":
      return withTag(200, issues.change(Number(id), body, headers["if-match"]));
    case "DELETE one":
      return { status: 204, body: issues.remove(Number(id)) };
    default:
      throw new ApiError(405, "METHOD", "The path does not have this method.");
  }
}

function send(response: ServerResponse, { status, body, headers }: Reply): void {
  response.writeHead(status, {
    ...(body !== undefined && { "content-type": "application/json" }),
    ...headers,
  });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

/** Creates the service, with no data. */
export function createTrackerService(): Server {
  const issues = createIssues();

  async function respond(request: IncomingMessage): Promise<Reply> {
    const { method, headers, url } = request;
    if (headers.authorization !== `Bearer ${TOKEN}`)
      throw new ApiError(401, "TOKEN", "The token is not valid.");
    const hasBody = method === "POST" || method === "PATCH";
    if (hasBody && headers["content-type"] !== "application/json")
      throw new ApiError(415, "MEDIA_TYPE", "The body must be application/json.");
    const body = hasBody ? ((await readJson(request)) as Members) : {};
    return route(request, new URL(url ?? "/", "http://tracker"), issues, body);
  }

  return createServer((request, response) => {
    respond(request).then(
      (reply) => send(response, reply),
      (error: unknown) =>
        send(
          response,
          error instanceof ApiError ? error.reply : new ApiError(500, "ERROR", String(error)).reply,
        ),
    );
  });
}

if (import.meta.main)
  createTrackerService().listen(
    Number(process.env["PORT"] ?? 9002),
    "127.0.0.1",
    function listening(this: Server) {
      console.log("Version 2 of the tracker listens on", this.address());
    },
  );
