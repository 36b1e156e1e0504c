/**
 * The new API of a web shop. It has a version in a header, the key in `Basic` credentials, problem details (RFC 9457), entity tags
 * of orders and profiles, and revisions of notes.
 *
 * `node service.ts` starts it on port 9007, or on that of `PORT`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { json as readJson } from "node:stream/consumers";

const CREDENTIALS = `Basic ${Buffer.from("demo-key:").toString("base64")}`;
const NOTES_LIMIT = 100;

type Members = Record<string, unknown>;

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Call {
  /** The parts of the path that vary. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: Members;
}

type Handler = (call: Call) => Reply;

const ok = (body: unknown, headers: Reply["headers"] = {}): Reply => ({ status: 200, body, headers });
const done: Reply = { status: 204 };
const fail = (status: number, code: string, detail: string, violations: readonly object[] = []): Reply => ({
  status,
  body: { title: "The request failed", detail, code, violations },
  headers: { "content-type": "application/problem+json" },
});
const missing = (): Reply => fail(404, "not_found", "There is no such object.");

/** The objects of a page. */
function pageOf(rows: readonly Members[], query: URLSearchParams): readonly Members[] {
  const [page, size] = [Number(query.get("page") ?? 1), Number(query.get("size") ?? 100)];
  return rows.slice((page - 1) * size, page * size);
}

/** Objects that clients read and change by their entity tags: each change gives an object the next one. */
function createTagged(objects: readonly Members[]) {
  const all = new Map(objects.map((object, index) => [String(index + 1), { id: index + 1, ...object }]));
  const versions = new Map<string, number>();
  const tagOf = (id: string): string => `"v${versions.get(id) ?? 1}"`;
  const isChanged = (id: string, { "if-match": tag }: Call["headers"]): boolean =>
    tag !== undefined && tag !== tagOf(id);
  const changed = (): Reply => fail(412, "stale", "The object has changed since it was read.");
  return {
    all: () => [...all.values()],
    read({ path: [id = ""], headers }: Call): Reply {
      if (!all.has(id)) return missing();
      const tag = { etag: tagOf(id) };
      return headers["if-none-match"] === tag.etag ? { status: 304, headers: tag } : ok(all.get(id), tag);
    },
    create(body: Members) {
      const object = { id: all.size + 1, ...body };
      all.set(String(object.id), object);
      return object;
    },
    change({ path: [id = ""], headers, body }: Call): Reply {
      const object = all.get(id);
      if (!object) return missing();
      if (isChanged(id, headers)) return changed();
      versions.set(id, (versions.get(id) ?? 1) + 1);
      return ok(Object.assign(object, body), { etag: tagOf(id) });
    },
    remove({ path: [id = ""], headers }: Call): Reply {
      if (!all.has(id)) return missing();
      if (isChanged(id, headers)) return changed();
      all.delete(id);
      return done;
    },
  };
}

/** Notes have no entity tags: they have a revision. Each response says how many calls there were. */
function createNotes() {
  const notes = [1, 2, 3].map((id): Members => ({ id, body: `Note ${id}`, revision: 1 }));
  let used = 0;
  const usage = () => ({ "x-used": String((used += 1)), "x-limit": String(NOTES_LIMIT) });
  const find = ([id]: readonly string[]) => notes.find((each) => String(each["id"]) === id);
  return {
    list: ({ query }: Call): Reply => ok({ rows: pageOf(notes, query), total: notes.length }, usage()),
    read({ path }: Call): Reply {
      const note = find(path);
      return note
        ? ok({ note }, usage())
        : { ...ok({ message: "There is no such note." }, usage()), status: 404 };
    },
    create({ body, headers }: Call): Reply {
      const note = { id: notes.length + 1, ...body, revision: 1 };
      notes.push(note);
      const key = headers["x-request-key"];
      return {
        status: 201,
        body: { note },
        headers: typeof key === "string" ? { "x-request-key": key } : {},
      };
    },
    change({ path, body }: Call): Reply {
      const note = find(path);
      if (!note) return { status: 404, body: { message: "There is no such note." } };
      return ok({ note: Object.assign(note, body, { revision: Number(note["revision"]) + 1 }) });
    },
  };
}

/** Tickets, which have problems with codes of their own. */
function createTickets() {
  const tickets = createTagged([{ summary: "Broken", status: "OPEN", rank: 10, hidden: false }]);
  return {
    ...tickets,
    list: ({ query }: Call): Reply => {
      const rank = query.get("rank");
      const found = tickets
        .all()
        .filter((each) => rank === null || String((each as Members)["rank"]) === rank);
      return ok({ items: pageOf(found, query), total: found.length });
    },
    createTicket({ body }: Call): Reply {
      const isTaken = tickets.all().some((each) => (each as Members)["summary"] === body["summary"]);
      const problems = [{ pointer: "/summary", detail: "summary is used.", type: "taken" }];
      return isTaken
        ? { status: 409, body: { title: "Not possible.", problems } }
        : { status: 201, body: tickets.create({ status: "OPEN", ...body }) };
    },
  };
}

/** All operations, by method and path. */
function createOperations(): Readonly<Record<string, Handler>> {
  const purchases = createTagged([{ total: 12 }]);
  const people = [
    { name: "Ada", address: { city: "Bath" } },
    { name: "Bob", address: { city: "York" } },
  ];
  const [customers, profiles] = [createTagged(people), createTagged(people)];
  const [notes, tickets] = [createNotes(), createTickets()];
  return {
    "GET /purchases/:": purchases.read,
    "POST /purchases": ({ body }) => {
      if (Number(body["total"]) < 1)
        return fail(422, "invalid", "Invalid", [{ pointer: "/total", text: "total is too small" }]);
      if (Number(body["total"]) > 1000) return fail(422, "out_of_stock", "There is not so much.");
      const created = purchases.create(body);
      return { status: 200, body: created, headers: { location: `/api/purchases/${created.id}` } };
    },
    "POST /purchases/:/refunds": () => ({ status: 201, headers: { location: "/api/refunds/9" } }),
    "DELETE /purchases/:": purchases.remove,
    "GET /customers": ({ query }) => {
      const all = customers.all();
      const [number, size] = [Number(query.get("page") ?? 1), Number(query.get("size") ?? 100)];
      const page = { number, totalPages: Math.ceil(all.length / size), totalElements: all.length };
      return ok({ content: pageOf(all, query), page });
    },
    "GET /customers/:": customers.read,
    "PATCH /customers/:": customers.change,
    "DELETE /customers/:": customers.remove,
    "GET /profiles/:": profiles.read,
    "PUT /profiles/:": profiles.change,
    "GET /notes": notes.list,
    "POST /notes": notes.create,
    "GET /notes/:": notes.read,
    "PUT /notes/:": notes.change,
    "PATCH /notes/:": notes.change,
    "GET /tickets": tickets.list,
    "POST /tickets": tickets.createTicket,
    "GET /tickets/:": tickets.read,
    "PATCH /tickets/:": tickets.change,
    "POST /tickets/:/lock": () => done,
  };
}

/** The values of the parts of a path that are `:` in a pattern; undefined if it is another path. */
function matchPath(pattern: string, path: string): string[] | undefined {
  const [expected, parts] = [`/api${pattern}`.split("/"), path.split("/")];
  if (expected.length !== parts.length) return undefined;
  if (!expected.every((part, index) => part === ":" || part === parts[index])) return undefined;
  return parts.filter((_part, index) => expected[index] === ":").map(decodeURIComponent);
}

/** Creates the service, with its data. */
export function createShopService(): Server {
  const operations = Object.entries(createOperations());

  async function reply(request: IncomingMessage): Promise<Reply> {
    const { headers, method, url } = request;
    const { pathname, searchParams: query } = new URL(url ?? "/", "http://shop");
    if (headers.authorization !== CREDENTIALS) return fail(401, "no_key", "The key is not valid.");
    if (headers["x-api-version"] !== "3") return fail(400, "version", "There is version 3 only.");
    for (const [name, operation] of operations) {
      const [verb, pattern = ""] = name.split(" ");
      const path = verb === method ? matchPath(pattern, pathname) : undefined;
      if (!path) continue;
      const body = headers["content-type"] === undefined ? {} : ((await readJson(request)) as Members);
      return operation({ path, query, headers, body });
    }
    return missing();
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body, headers } = await reply(request).catch((error: unknown) =>
      fail(500, "error", String(error)),
    );
    response.writeHead(status, {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }

  return createServer((request, response) => void respond(request, response));
}

if (import.meta.main)
  createShopService().listen(
    Number(process.env["PORT"] ?? 9007),
    "127.0.0.1",
    function listening(this: Server) {
      console.log("The shop listens on", this.address());
    },
  );
