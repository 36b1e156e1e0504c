/**
 * The new API of a library: lists with pages and with filters in a header, and scopes of tokens in another one.
 *
 * `node service.ts` starts it on port 9008, or on that of `PORT`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { json as readJson } from "node:stream/consumers";

const TOKEN = "demo-token";

type Members = Record<string, unknown>;

interface Reply {
  readonly status: number;
  readonly body?: unknown;
}

interface Call {
  readonly id: string;
  readonly query: URLSearchParams;
  /** The filter of a list. */
  readonly where: Members;
  readonly body: Members;
}

type Handler = (call: Call) => Reply;

const ok = (body: unknown): Reply => ({ status: 200, body });
const fail = (status: number, text: string, at?: string): Reply => ({
  status,
  body: { problems: [{ at, text }] },
});
const missing = (): Reply => fail(404, "There is no such object.");

const memberOf = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((object, key) => (object as Members | undefined)?.[key], value);

/** Each operator of a filter. */
const OPERATORS: Readonly<Record<string, (value: unknown, operand: unknown) => boolean>> = {
  like: (value, operand) => String(value).toLowerCase().includes(String(operand).toLowerCase()),
  not: (value, operand) => value !== operand,
  gt: (value, operand) => Number(value) > Number(operand),
  gte: (value, operand) => Number(value) >= Number(operand),
  lt: (value, operand) => Number(value) < Number(operand),
  lte: (value, operand) => Number(value) <= Number(operand),
};

/** Whether a row fits a filter: `{ "kind": { "not": "cellar" } }`, `{ "and": [] }`. */
function fits(row: Members, where: Members): boolean {
  return Object.entries(where).every(([name, condition]) => {
    if (name === "sort" || name === "dir") return true;
    if (name === "and") return (condition as Members[]).every((each) => fits(row, each));
    if (name === "or") return (condition as Members[]).some((each) => fits(row, each));
    const value = memberOf(row, name);
    if (typeof condition !== "object" || condition === null) return value === condition;
    return Object.entries(condition).every(([operator, operand]) => OPERATORS[operator]?.(value, operand));
  });
}

/** A page of the rows that fit the filter, in its order. */
function list(rows: readonly Members[], { query, where }: Call): Reply {
  const [page, size] = [Number(query.get("page") ?? 1), Number(query.get("per_page") ?? 50)];
  const { sort = "id", dir } = where;
  const found = rows
    .filter((row) => fits(row, where))
    .toSorted((one, other) =>
      String(memberOf(one, String(sort))).localeCompare(String(memberOf(other, String(sort)))),
    );
  if (dir === "desc") found.reverse();
  const last = Math.max(1, Math.ceil(found.length / size));
  return ok({
    rows: found.slice((page - 1) * size, page * size),
    page,
    last_page: last,
    total: found.length,
  });
}

/** All operations, by method and path. */
function createOperations(): Readonly<Record<string, Handler>> {
  const items: Members[] = ["Waves", "The sea", "Tides"].map((name, index) => ({
    id: index + 1,
    name,
    status: index === 0 ? "out" : "in",
    location: { shelf_id: index === 2 ? "B/2" : "A1" },
    cost: { pence: 250 },
    bought: "2020-01-02T03:04:05Z",
  }));
  const crates: Members[] = [
    { id: 1, place_ids: ["A1"], kind: "flat", is_full: false },
    { id: 2, place_ids: ["B/2", "cellar/3"], kind: "box", is_full: true },
    { id: 3, place_ids: ["cellar/3"], kind: "cellar", is_full: false },
  ];
  const find = (rows: readonly Members[], id: string) => rows.find((each) => String(each["id"]) === id);
  const read = (rows: readonly Members[], id: string): Reply => {
    const found = find(rows, id);
    return found ? ok(found) : missing();
  };
  return {
    "GET /items": (call) => list(items, call),
    "GET /items/:": ({ id }) => read(items, id),
    "GET /items/:/loan": () => ok({ reader: "Ada" }),
    "POST /items": ({ body }) => {
      const item = { id: items.length + 1, status: "in", bought: null, ...body };
      items.push(item);
      return ok(item);
    },
    "DELETE /items/:": ({ id }) => {
      const index = items.findIndex((each) => String(each["id"]) === id);
      if (index < 0) return missing();
      items.splice(index, 1);
      return { status: 204 };
    },
    "GET /people/:": ({ id }) => ok({ id: Number(id), banned: id === "6" }),
    "GET /crates": (call) => list(crates, call),
    "GET /crates/:": ({ id }) => read(crates, id),
    "PUT /crates/:": ({ id, body }) => {
      const crate = find(crates, id);
      return crate ? ok(Object.assign(crate, body)) : missing();
    },
    "GET /store": (call) => list(crates, { ...call, where: {} }),
  };
}

const PLACES: readonly Members[] = [
  { id: "A1", room: "hall" },
  { id: "B/2", room: "attic" },
];

/** Creates the service, with its data. */
export function createLibraryService(): Server {
  const operations = createOperations();

  async function reply(request: IncomingMessage): Promise<Reply> {
    const { headers, method, url } = request;
    const { pathname, searchParams: query } = new URL(url ?? "/", "http://library");
    const [, , , kind = "", id = "", ...rest] = pathname.split("/");
    const where = JSON.parse(String(headers["x-where"] ?? "{}")) as Members;
    // Places are public.
    if (kind === "places") return list(PLACES, { id, query, where, body: {} });
    if (headers.authorization !== `Token ${TOKEN}`) return fail(401, "The token is not valid.");
    const pattern = [kind, ...(id === "" ? [] : [":"]), ...rest].join("/");
    const body = headers["content-type"] === undefined ? {} : ((await readJson(request)) as Members);
    return operations[`${method} /${pattern}`]?.({ id, query, where, body }) ?? missing();
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body } = await reply(request).catch((error: unknown) => fail(500, String(error)));
    response.writeHead(status, { "x-rights": "items:rw", "content-type": "application/json" });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }

  return createServer((request, response) => void respond(request, response));
}

if (import.meta.main)
  createLibraryService().listen(
    Number(process.env["PORT"] ?? 9008),
    "127.0.0.1",
    function listening(this: Server) {
      console.log("The library listens on", this.address());
    },
  );
