/**
 * The new API of a shipping company. Some of its calls only start an operation: a print is a job that clients read until it is
 * done, and a stay can't be changed until the dock is open.
 *
 * `node service.ts` starts it on port 9005, or on that of `PORT`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { json as readJson } from "node:stream/consumers";

const CREDENTIALS = `Basic ${Buffer.from("demo-token:").toString("base64")}`;

type Members = Record<string, unknown>;

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Call {
  /** The parameters of the path. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Members;
}

type Handler = (call: Call) => Reply;

const ok = (body: unknown, status = 200): Reply => ({ status, body });
const done: Reply = { status: 204 };
const fail = (status: number, code: string, message: string): Reply => ({ status, body: { code, message } });
const missing = (): Reply => fail(404, "not_found", "There is no such object.");

/** Objects by their ids, and what can be done with each kind of them. */
function createCollection(objects: readonly Members[]) {
  const all = new Map(objects.map((object, index) => [String(index + 1), { id: index + 1, ...object }]));
  return {
    all: () => [...all.values()],
    find: (id: string | undefined): Members | undefined => all.get(id ?? ""),
    read: ({ path: [id = ""] }: Call): Reply => (all.has(id) ? ok(all.get(id)) : missing()),
    create(body: Members) {
      const object = { id: all.size + 1, ...body };
      all.set(String(object.id), object);
      return object;
    },
    change({ path: [id = ""], body }: Call): Reply {
      const object = all.get(id);
      return object ? ok(Object.assign(object, body)) : missing();
    },
    remove: ({ path: [id = ""] }: Call): Reply => (all.delete(id) ? done : missing()),
  };
}

/** Prints are jobs: the first read of one finds it still at work. */
function createPrinter() {
  const prints = createCollection([]);
  const jobs = new Map<string, { reads: number; readonly print: Members }>();
  const start = (size: unknown) => {
    const job = `j-${jobs.size + 1}`;
    jobs.set(job, { reads: 0, print: prints.create({ size }) });
    return job;
  };
  return {
    read: prints.read,
    readJob({ path: [id = ""] }: Call): Reply {
      const job = jobs.get(id);
      if (!job) return missing();
      job.reads += 1;
      if (job.reads < 2) return ok({ state: "queued" });
      const { print } = job;
      if (print["size"] !== "a4" && print["size"] !== "a6")
        return ok({ state: "jammed", reason: { code: "no_printer", message: "No printer has this size." } });
      // A job of the current print has its id, as the pack reads the print with it.
      return ok({ state: "printed", done: true, print: id.endsWith("c") ? print["id"] : print });
    },
    start({ body }: Call): Reply {
      return { status: 202, headers: { location: `/jobs/${start(body["size"])}` }, body: { accepted: true } };
    },
    startCopies({ path: [id = ""] }: Call): Reply {
      const print = prints.find(id);
      return print ? ok({ job: start(print["size"]) }) : missing();
    },
    startCurrent({ body }: Call): Reply {
      const id = start(body["size"]);
      const job = jobs.get(id);
      if (job) jobs.set(`${id}c`, job);
      return ok({ job: { id: `${id}c`, print: job?.print["id"] } }, 202);
    },
  };
}

/** Shipments say what is wrong with a body by field. */
function createShipments() {
  const shipments = createCollection([
    { first_name: "Ada", last_name: "Lovelace", grams: 200, contents: [] },
  ]);
  return {
    list: (): Reply => ok(shipments.all()),
    read: (call: Call): Reply =>
      shipments.find(call.path[0]) ? shipments.read(call) : ok({ error: {} }, 404),
    find({ path: [name] }: Call): Reply {
      const found = shipments.all().find((each) => (each as Members)["first_name"] === name);
      return found ? ok(found) : ok({ error: {} }, 404);
    },
    create({ body }: Call): Reply {
      if (Number(body["grams"]) > 30_000)
        return ok(
          { error: { cause: { code: "too_heavy" } }, problems: [{ path: "grams", code: "too_heavy" }] },
          409,
        );
      const name = String(body["first_name"]);
      if (name.trim() === "") return ok({ invalid: { first_name: ["first_name is blank."] } }, 422);
      return ok(shipments.create({ last_name: "", grams: 0, contents: [], ...body }));
    },
  };
}

/** Docks, and the stays of trucks at them. */
function createDepot() {
  const places = createCollection([
    { title: "North", longest: 48, closed: false },
    { title: "South", longest: 12, closed: true },
  ]);
  const stays = createCollection([{ driver_name: "Ada", hours: 2, state: "open" }]);
  return {
    list: (): Reply => ok(places.all()),
    places,
    stays,
    createStay: ({ body }: Call): Reply =>
      body["driver_name"] === ""
        ? ok({ problems: [{ source: { pointer: "/driver_name" }, detail: "Is not known." }] }, 422)
        : ok(stays.create({ hours: 1, state: "open", ...body })),
  };
}

/** All operations, by method and path. */
function createOperations(): Readonly<Record<string, Handler>> {
  const consignments = createCollection([
    { status: "sent", owner: 5, reference: "c-5", depot: "north", address: { city: "Den Haag" } },
  ]);
  const clients = createCollection([{ full_name: "Ada", labels: [], location: null }]);
  const drops = createCollection([{ status: "out" }, { status: "home" }]);
  const [printer, shipments, depot] = [createPrinter(), createShipments(), createDepot()];
  return {
    "GET /consignments": ({ query }) =>
      ok(
        consignments
          .all()
          .filter((each) => [...query].every(([name, value]) => String((each as Members)[name]) === value)),
      ),
    "POST /consignments": ({ body }) => ok({ created: { id: consignments.create(body).id } }, 201),
    "GET /consignments/:": consignments.read,
    "GET /events": () => ok([{ place: "Utrecht" }, { place: "Den Haag" }]),
    "GET /depots/:": ({ path: [id] }) => ok({ id, address: { country: "NL" } }),
    "GET /carriers": ({ query }) => ok([{ id: 3, title: `Slow ${query.get("country")}` }]),
    "GET /drops/:": drops.read,
    "PATCH /drops/:": drops.change,
    "POST /drops/find": ({ body }) =>
      ok(drops.all().filter(({ id }) => (body["numbers"] as unknown[] | undefined)?.includes(id))),
    "POST /prints": printer.start,
    "POST /prints/:/copies": printer.startCopies,
    "PUT /prints/current": printer.startCurrent,
    "GET /prints/:": printer.read,
    "GET /jobs/:": printer.readJob,
    "GET /clients": () => ok(clients.all()),
    "GET /clients/:": clients.read,
    "PATCH /clients/:": clients.change,
    "DELETE /clients/:": clients.remove,
    "PUT /clients/:/archived": () => done,
    "POST /clients/:/close": () => done,
    "GET /reports/:/:": () => ok(clients.all()),
    "POST /imports": () => done,
    "GET /shipments": shipments.list,
    "POST /shipments": shipments.create,
    "GET /shipments/:": shipments.read,
    "GET /shipments/named/:": shipments.find,
    "GET /places": depot.list,
    "GET /places/:": depot.places.read,
    "DELETE /places/:": (call) =>
      depot.stays.all().length > 0 ? fail(409, "booked", "It is booked.") : depot.places.remove(call),
    "POST /stays": depot.createStay,
    "GET /stays/:": depot.stays.read,
    "PATCH /stays/:": depot.stays.change,
    "POST /gates/:/openings": ({ path: [gate] }) =>
      gate === "west" ? fail(423, "locked", "The gate is locked.") : ok({ gate }, 201),
  };
}

/** The values of the parts of a path that are `:` in a pattern; undefined if it is another path. */
function matchPath(pattern: string, path: string): string[] | undefined {
  const [expected, parts] = [pattern.split("/"), path.split("/")];
  if (expected.length !== parts.length) return undefined;
  if (!expected.every((part, index) => part === ":" || part === parts[index])) return undefined;
  return parts.filter((_part, index) => expected[index] === ":").map(decodeURIComponent);
}

/** Creates the service, with its data. */
export function createShippingService(): Server {
  const operations = Object.entries(createOperations());

  async function reply(request: IncomingMessage): Promise<Reply> {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://shipping");
    if (request.headers.authorization !== CREDENTIALS)
      return fail(401, "no_token", "The credentials are not valid.");
    for (const [name, operation] of operations) {
      const [method, pattern = ""] = name.split(" ");
      const path = method === request.method ? matchPath(pattern, pathname) : undefined;
      if (!path) continue;
      const hasBody = request.headers["content-type"] !== undefined;
      return operation({ path, query, body: hasBody ? ((await readJson(request)) as Members) : {} });
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
  createShippingService().listen(
    Number(process.env["PORT"] ?? 9005),
    "127.0.0.1",
    function listening(this: Server) {
      console.log("The shipping company listens on", this.address());
    },
  );
