/**
 * The new payments API: JSON, decimal amounts, numbers as ids, problem details (RFC 9457), the key in `X-Api-Key`.
 *
 * `node service.ts` starts it on port 9001, or on that of `PORT`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { json as readJson } from "node:stream/consumers";

const API_KEY = "sk_demo";

interface Customer {
  readonly id: number;
  email: string;
  fullName: string | null;
  phone: string | null;
  metadata: Record<string, string>;
  readonly createdAt: string;
}

interface Payment {
  readonly id: number;
  readonly customerId: number | null;
  /** Decimal, `12.50`. */
  readonly amount: string;
  readonly currency: string;
  state: "PAID" | "PENDING" | "REFUNDED";
  readonly reference: string | null;
  readonly createdAt: string;
}

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A problem of one member of the body, or of a query parameter. */
interface Invalid {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** An error response with problem details. */
class Problem extends Error {
  readonly reply: Reply;

  constructor(status: number, code: string, title: string, errors: readonly Invalid[] = []) {
    super(title);
    const body = { type: `https://payments.example/problems/${code}`, title, status, code, errors };
    this.reply = { status, body, headers: { "content-type": "application/problem+json" } };
  }
}

const invalid = (...errors: Invalid[]): Problem =>
  new Problem(422, "INVALID_REQUEST", "The request is invalid.", errors);

type Members = Readonly<Record<string, unknown>>;
type Parameters = ReadonlyMap<string, string>;

/** Takes the members that a request may have. Others are errors, so that a wrong translation shows. */
function takeMembers(body: Members, names: readonly string[]): Members {
  const unknown = Object.keys(body).filter((name) => !names.includes(name));
  if (unknown.length > 0)
    throw invalid(
      ...unknown.map((name) => ({ pointer: `/${name}`, code: "UNKNOWN", detail: `${name} is unknown` })),
    );
  return body;
}

function takeParameters(query: URLSearchParams, names: readonly string[]): Parameters {
  const unknown = [...query.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Problem(400, "UNKNOWN_PARAMETER", `There is no parameter ${unknown}.`);
  return new Map(query);
}

/** The items after an id, oldest first. `next` is the cursor of the following page, or null. */
function pageOf(items: readonly { readonly id: number }[], query: Parameters): object {
  const size = Number(query.get("size") ?? 10);
  if (!Number.isInteger(size) || size < 1 || size > 50)
    throw new Problem(400, "PAGE_SIZE", "size is 1 to 50.");
  const after = Number(query.get("after") ?? 0);
  const rest = items.filter(({ id }) => id > after);
  const page = rest.slice(0, size);
  return { data: page, next: rest.length > size ? String(page.at(-1)?.id) : null };
}

/** The data, and the operations on it. */
function createPayments() {
  const customers = new Map<number, Customer>();
  const payments = new Map<number, Payment>();
  let lastId = 0;
  const now = (): string => new Date(Date.UTC(2026, 0, 1, 12, 0, lastId)).toISOString();

  function findCustomer(id: number): Customer {
    const customer = customers.get(id);
    if (!customer) throw new Problem(404, "NOT_FOUND", `There is no customer ${id}.`);
    return customer;
  }

  function findPayment(id: number): Payment {
    const payment = payments.get(id);
    if (!payment) throw new Problem(404, "NOT_FOUND", `There is no payment ${id}.`);
    return payment;
  }

  function checkCustomer({ email, metadata = {} }: Members): void {
    if (typeof email !== "string" || !email.includes("@"))
      throw invalid({ pointer: "/email", code: "INVALID_EMAIL", detail: "email is not an address" });
    if (
      typeof metadata !== "object" ||
      Object.values(metadata ?? {}).some((value) => typeof value !== "string")
    )
      throw invalid({ pointer: "/metadata", code: "INVALID", detail: "metadata has texts only" });
  }

  const CUSTOMER = ["email", "fullName", "phone", "metadata"];
  const PAYMENT = ["customerId", "amount", "currency", "reference"];

  return {
    listCustomers: (query: Parameters) =>
      pageOf(
        [...customers.values()].filter(({ email }) => email === (query.get("email") ?? email)),
        query,
      ),
    findCustomer,
    createCustomer(body: Members): Customer {
      checkCustomer(takeMembers(body, CUSTOMER));
      const given = { fullName: null, phone: null, metadata: {}, ...body } as Omit<
        Customer,
        "id" | "createdAt"
      >;
      const customer = { id: (lastId += 1), ...given, createdAt: now() };
      customers.set(customer.id, customer);
      return customer;
    },
    changeCustomer(id: number, body: Members): Customer {
      const customer = findCustomer(id);
      checkCustomer({ ...customer, ...takeMembers(body, CUSTOMER) });
      return Object.assign(customer, body);
    },
    deleteCustomer: (id: number) => void customers.delete(findCustomer(id).id),

    listPayments(query: Parameters): object {
      const { customerId, state, createdAtFrom, createdAtTo } = Object.fromEntries(query);
      const found = [...payments.values()].filter(
        (payment) =>
          (customerId === undefined || payment.customerId === Number(customerId)) &&
          (state === undefined || payment.state === state) &&
          (createdAtFrom === undefined || payment.createdAt >= createdAtFrom) &&
          (createdAtTo === undefined || payment.createdAt <= createdAtTo),
      );
      return pageOf(found, query);
    },
    findPayment,
    createPayment(body: Members): Payment {
      const { customerId = null, amount, currency, reference = null } = takeMembers(body, PAYMENT);
      if (typeof amount !== "string" || !/^\d+\.\d\d$/.test(amount))
        throw invalid({
          pointer: "/amount",
          code: "INVALID_AMOUNT",
          detail: "amount is a decimal such as 12.50",
        });
      if (typeof currency !== "string" || !/^[A-Z]{3}$/.test(currency))
        throw invalid({
          pointer: "/currency",
          code: "INVALID_CURRENCY",
          detail: "currency is a code such as EUR",
        });
      if (customerId !== null) findCustomer(customerId as number);
      if (Number(amount) > 5000) throw new Problem(402, "DECLINED", "The bank declined the payment.");
      const payment = { id: (lastId += 1), customerId, amount, currency, state: "PAID", reference } as const;
      const stored = { ...payment, createdAt: now() } as Payment;
      payments.set(stored.id, stored);
      return stored;
    },
    refundPayment(id: number): object {
      const payment = findPayment(id);
      if (payment.state === "REFUNDED")
        throw new Problem(409, "ALREADY_REFUNDED", "The payment is refunded.");
      payment.state = "REFUNDED";
      return { id: (lastId += 1), paymentId: id, amount: payment.amount };
    },
  };
}

type Payments = ReturnType<typeof createPayments>;

const created = (path: string, body: { readonly id?: number }): Reply => ({
  status: 201,
  body,
  headers: { location: path },
});

/** The operations by method and path. */
function route(method: string, url: URL, payments: Payments, body: Members): Reply {
  const [, resource = "", id = "", action = ""] =
    /^\/api\/(\w+)(?:\/(\d+))?(?:\/(\w+))?$/.exec(url.pathname) ?? [];
  const paging = ["after", "size"];
  const take = (...names: string[]): Parameters => takeParameters(url.searchParams, names);
  switch (`${method} ${resource}${id && "/id"}${action && `/${action}`}`) {
    case "GET customers":
      return { status: 200, body: payments.listCustomers(take(...paging, "email")) };
    case "POST customers": {
      const customer = payments.createCustomer(body);
      return created(`/api/customers/${customer.id}`, customer);
    }
    case "GET customers/id":
      return { status: 200, body: payments.findCustomer(Number(id)) };
    case "PATCH customers/id":
      return { status: 200, body: payments.changeCustomer(Number(id), body) };
    case "DELETE customers/id":
      return { status: 204, body: payments.deleteCustomer(Number(id)) };
    case "GET payments":
      return {
        status: 200,
        body: payments.listPayments(take(...paging, "customerId", "state", "createdAtFrom", "createdAtTo")),
      };
    case "POST payments": {
      const payment = payments.createPayment(body);
      return created(`/api/payments/${payment.id}`, payment);
    }
    case "GET payments/id":
      return { status: 200, body: payments.findPayment(Number(id)) };
    case "POST payments/id/refunds":
      return { status: 201, body: payments.refundPayment(Number(id)) };
    default:
      throw new Problem(404, "NOT_FOUND", "There is no such operation.");
  }
}

function send(response: ServerResponse, { status, body, headers }: Reply): void {
  response.writeHead(status, {
    ...(body !== undefined && { "content-type": "application/json" }),
    ...headers,
  });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<Members> {
  const {
    "content-length": length = "0",
    "transfer-encoding": coding,
    "content-type": type,
  } = request.headers;
  if (length === "0" && coding === undefined) return {};
  if (type !== "application/json") throw new Problem(415, "MEDIA_TYPE", "The body must be application/json.");
  return (await readJson(request)) as Members;
}

/** Creates the service, with no data. */
export function createPaymentsService(): Server {
  const payments = createPayments();
  /** The responses of POST requests by their `Idempotency-Key`. */
  const replies = new Map<string, Reply>();

  async function respond(request: IncomingMessage): Promise<Reply> {
    const { method = "GET", headers } = request;
    if (headers["x-api-key"] !== API_KEY) throw new Problem(401, "INVALID_KEY", "The API key is not valid.");
    if (headers["x-api-version"] !== "3") throw new Problem(400, "VERSION", "X-Api-Version must be 3.");
    const body = await readBody(request);
    const key = method === "POST" ? headers["idempotency-key"] : undefined;
    const previous = typeof key === "string" ? replies.get(key) : undefined;
    if (previous) return { ...previous, headers: { ...previous.headers, "idempotent-replayed": "true" } };
    const reply = route(method, new URL(request.url ?? "/", "http://payments"), payments, body);
    if (typeof key === "string") replies.set(key, reply);
    return reply;
  }

  return createServer((request, response) => {
    respond(request).then(
      (reply) => send(response, reply),
      (error: unknown) =>
        send(
          response,
          error instanceof Problem ? error.reply : new Problem(500, "ERROR", String(error)).reply,
        ),
    );
  });
}

if (import.meta.main)
  createPaymentsService().listen(
    Number(process.env["PORT"] ?? 9001),
    "127.0.0.1",
    function listening(this: Server) {
      console.log("The new payments API listens on", this.address());
    },
  );
