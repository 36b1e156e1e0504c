/**
 * The new API of a billing company: decimals in text, bodies in wrappers or forms, lists with filters of other names, and one
 * list that is read by a `POST` with criteria.
 *
 * `node service.ts` starts it on port 9006, or on that of `PORT`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";

const TOKEN = "demo-token";

type Members = Record<string, unknown>;

interface Reply {
  readonly status: number;
  readonly body?: unknown;
}

interface Call {
  /** The parts of the path that vary. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Members;
}

type Handler = (call: Call) => Reply;

const ok = (body: unknown): Reply => ({ status: 200, body });
const done: Reply = { status: 204 };
const fail = (status: number, message: string, errors: readonly object[] = []): Reply => ({
  status,
  body: { message, errors },
});
const missing = (): Reply => fail(404, "There is no such object.");

/** A page of rows with some values, in an order such as `createdAt,desc`. */
function list(rows: readonly Members[], query: URLSearchParams, filters: readonly string[]): Reply {
  const [page, size] = [Number(query.get("page") ?? 1), Number(query.get("size") ?? 100)];
  const [by, direction] = (query.get("order") ?? "id,asc").split(",");
  const found = rows
    .filter((row) =>
      filters.every((name) => !query.has(name) || query.getAll(name).includes(String(row[name]))),
    )
    .toSorted((one, other) => String(one[by ?? "id"]).localeCompare(String(other[by ?? "id"])));
  if (direction === "desc") found.reverse();
  return ok({ content: found.slice((page - 1) * size, page * size), totalElements: found.length });
}

/** Customers, whose bodies are in a wrapper, or are merge patches. */
function createClients() {
  const clients = new Map<string, Members>();
  return {
    create({ body }: Call): Reply {
      const client = { id: clients.size + 1, ...(body["customer"] as Members | undefined) };
      const town = (client as { location?: { town?: string } }).location?.town ?? "";
      if (town.length === 1)
        return fail(422, "Invalid", [{ field: "customer.location.town", message: "Unknown town" }]);
      clients.set(String(client.id), client);
      return ok(client);
    },
    read: ({ path: [id = ""] }: Call): Reply => (clients.has(id) ? ok(clients.get(id)) : missing()),
    change({ path: [id = ""], body }: Call): Reply {
      const client = clients.get(id);
      return client ? ok(Object.assign(client, body)) : missing();
    },
  };
}

/** Orders and quotes. The latter come as forms, in which all values are texts. */
function createSales() {
  let lastId = 0;
  const create = (body: Members): Reply => ok({ id: (lastId += 1), ...body });
  return {
    createOrder: ({ body }: Call): Reply => create(body),
    createQuote: ({ body }: Call): Reply => {
      const items = Object.entries(body)
        .filter(([name]) => name.endsWith("[sku]"))
        .map(([name, sku]) => ({ sku, quantity: Number(body[name.replace("sku", "quantity")] ?? 1) }));
      return create({ paid: body["paid"] === "true", description: body["description"] ?? null, items });
    },
  };
}

/** All operations, by method and path. */
function createOperations(): Readonly<Record<string, Handler>> {
  const [clients, sales] = [createClients(), createSales()];
  const invoices: readonly Members[] = [1, 2, 3].map((id) => ({
    id,
    status: id === 1 ? "OPEN" : "SETTLED",
    createdAt: `2026-01-0${id}T00:00:00.000Z`,
    customerId: `c${id}`,
    total: id * 10.5,
    flags: { locked: false },
    note: null,
  }));
  const reminders: readonly Members[] = ["O", "L", "S"].map((status, index) => ({
    id: index + 1,
    status,
    day: "2026-01-02",
    createdAt: `2026-01-0${index + 1}T00:00:00.000Z`,
  }));
  const readInvoice = ({ path: [id] }: Call): Reply => {
    const invoice = invoices.find((each) => String(each["id"]) === id);
    return invoice ? ok(invoice) : missing();
  };
  return {
    "POST /clients": clients.create,
    "GET /clients/:": clients.read,
    "PATCH /clients/:": clients.change,
    "POST /orders": sales.createOrder,
    "PUT /orders/:/state": () => done,
    "POST /forms": () => done,
    "POST /operations": () => done,
    "POST /cancellations": () => done,
    "POST /quotes": sales.createQuote,
    "POST /quotes/batch": () => done,
    "GET /invoices": ({ query }) => list(invoices, query, ["status", "customerId"]),
    "GET /invoices/:": readInvoice,
    "GET /invoices/:/drafts": readInvoice,
    "GET /reminders": ({ query }) => list(reminders, query, ["status"]),
    "POST /payments/search": ({ body }) => {
      const { number = 0, size = 3 } = (body["page"] ?? {}) as { number?: number; size?: number };
      const { status } = (body["criteria"] ?? {}) as { status?: string };
      const payments = [1, 2, 3, 4]
        .map((id) => ({ id, status: id < 3 ? "open" : "closed", created: `2026-02-0${id}T04:05:06` }))
        .filter((each) => status === undefined || each.status === status);
      const content = payments.slice(number * size, (number + 1) * size);
      return ok({ content, totalElements: payments.length });
    },
  };
}

/** The values of the parts of a path that are `:` in a pattern; undefined if it is another path. */
function matchPath(pattern: string, path: string): string[] | undefined {
  const [expected, parts] = [`/v2${pattern}`.split("/"), path.split("/")];
  if (expected.length !== parts.length) return undefined;
  if (!expected.every((part, index) => part === ":" || part === parts[index])) return undefined;
  return parts.filter((_part, index) => expected[index] === ":").map(decodeURIComponent);
}

/** A body: a form, or JSON of any type. */
async function readBody(request: IncomingMessage): Promise<Members> {
  const text = await readText(request);
  if (request.headers["content-type"] === "application/x-www-form-urlencoded")
    return Object.fromEntries(new URLSearchParams(text));
  return text === "" ? {} : (JSON.parse(text) as Members);
}

/** Creates the service, with its data. */
export function createBillingService(): Server {
  const operations = Object.entries(createOperations());

  async function reply(request: IncomingMessage): Promise<Reply> {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://billing");
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return fail(401, "The token is not valid.");
    for (const [name, operation] of operations) {
      const [method, pattern = ""] = name.split(" ");
      const path = method === request.method ? matchPath(pattern, pathname) : undefined;
      if (path) return operation({ path, query, body: await readBody(request) });
    }
    return missing();
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body } = await reply(request).catch((error: unknown) => fail(500, String(error)));
    response.writeHead(status, body === undefined ? {} : { "content-type": "application/json" });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }

  return createServer((request, response) => void respond(request, response));
}

if (import.meta.main)
  createBillingService().listen(
    Number(process.env["PORT"] ?? 9006),
    "127.0.0.1",
    function listening(this: Server) {
      console.log("The billing company listens on", this.address());
    },
  );
