/** A small old service: alpha over the data of a v4 service. README.md says what it has. */
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { datacenters, distribution, filter, instance, oldFieldOf, regionOf, type } from "./translate.mjs";

const PAGE_SIZE = 25;

class Refusal extends Error {
  constructor(status, errors) {
    super(`status ${status}`);
    this.status = status;
    this.errors = typeof errors === "string" ? [{ reason: errors }] : errors;
  }
}
const notFound = () => new Refusal(404, "Not found");

/** Reads an `X-Filter` header. */
function readFilter(text) {
  try {
    const given = JSON.parse(text);
    return { given, filtered: filter(given) };
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal(400, error.message);
    throw new Refusal(400, "X-Filter must be one JSON object; this is not JSON.");
  }
}

/** A wrong value in place of another. */
function wrongOf(value) {
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return value + 1;
  return typeof value === "string" ? `${value}!` : null;
}

function makeWrong(object, [name, ...rest]) {
  if (object === null || typeof object !== "object" || !(name in object)) return;
  if (rest.length > 0) makeWrong(object[name], rest);
  else object[name] = wrongOf(object[name]);
}

const shuffled = (rows) =>
  rows
    .map((row) => ({ row, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ row }) => row);

/**
 * Creates the service. It does not listen yet.
 *
 * @param options `upstream`: the address of v4; `slow`, `noise`, `fault` and `log` as the flags
 */
export function createOldService({ upstream, slow = 0, noise = false, fault, log }) {
  const catalogs = new Map();
  let calls = 0;

  /** Calls v4 with the client's token. */
  async function call(method, path, token, { body, filtered } = {}) {
    const response = await fetch(`${upstream}/v4${path}`, {
      method,
      body: body && JSON.stringify(body),
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { "content-type": "application/json" }),
        ...(filtered && { "x-filter": JSON.stringify(filtered) }),
      },
    });
    const { status } = response;
    if (status >= 500) throw new Error(`v4 responded with ${status}`);
    const received = await response.json();
    if (response.ok) return received;
    const errors = received.errors.map(({ field, reason }) => ({
      ...(field && { field: oldFieldOf(field) }),
      reason,
    }));
    throw new Refusal([401, 403, 404].includes(status) ? status : status === 429 ? 420 : 400, errors);
  }

  /** The rows of a public list of v4, translated, by their ids. They are read once. */
  async function readCatalog(path, translate, filtered) {
    const rows = new Map();
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const list = await call("GET", `${path}?page=${page}&page_size=100`, undefined, { filtered });
      for (const row of list.data) rows.set(row.id, translate(row));
      ({ pages } = list);
    }
    return rows;
  }

  function catalog(path, translate, filtered) {
    if (!catalogs.has(path)) catalogs.set(path, readCatalog(path, translate, filtered));
    // A read that failed is tried again.
    return catalogs.get(path).catch((error) => {
      catalogs.delete(path);
      throw error;
    });
  }
  const images = () => catalog("/images", distribution, { is_public: true });
  const types = () => catalog("/vm/types", type);

  const list = (name, rows, page, total, isOrdered = false) => ({
    [name]: noise && !isOrdered ? shuffled(rows) : rows,
    page,
    total_pages: Math.max(1, Math.ceil(total / PAGE_SIZE)),
    total_results: total,
  });

  /** A list or an object of a catalog. */
  function showCatalog(name, rows, id, page) {
    if (id === undefined)
      return list(name, rows.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE), page, rows.length);
    const found = rows.find((row) => row.id === id);
    if (!found) throw notFound();
    return found;
  }

  async function vm(v4, details) {
    const object = instance(v4, { images: await images(), types: await types() }, details);
    if (noise) {
      object.updated = new Date().toISOString().slice(0, 19);
      object.total_transfer = calls += 1;
    }
    if (fault !== undefined) makeWrong(object, fault.split("."));
    return object;
  }

  async function listInstances(token, page, header) {
    const { given, filtered } = header === undefined ? {} : readFilter(header);
    const path = `/vm/instances?page=${page}&page_size=${PAGE_SIZE}`;
    const { data, results } = await call("GET", path, token, { filtered });
    const vms = await Promise.all(data.map((row) => vm(row)));
    return list("vms", vms, page, results, given?.["+order-by"] !== undefined);
  }

  async function showInstance(token, id) {
    const path = `/vm/instances/${id}`;
    const found = await call("GET", path, token);
    const transfer = await call("GET", `${path}/transfer`, token);
    const backups = found.backups.enabled ? await call("GET", `${path}/backups`, token) : undefined;
    return vm(found, { transfer, backups });
  }

  async function createInstance(token, { datacenter, distribution: image, label = "vm", ...rest }) {
    const errors = [
      ...(datacenter === undefined ? [{ field: "datacenter", reason: "This field is required." }] : []),
      ...(rest.type === undefined ? [{ field: "type", reason: "This field is required." }] : []),
    ];
    if (errors.length > 0) throw new Refusal(400, errors);
    const region = regionOf(datacenter);
    if (!region) throw new Refusal(400, [{ field: "datacenter", reason: "Record not found" }]);
    const body = { ...rest, label, region, ...(image && { image }), booted: false };
    return vm(await call("POST", "/vm/instances", token, { body }));
  }

  async function respond(request) {
    const { method, url, headers } = request;
    const { pathname, searchParams } = new URL(url, "http://old");
    const page = Number(searchParams.get("page") ?? 1);
    const [, path, id] =
      /^\/v4(\/datacenters|\/vm\/[a-z]+)(?:\/(.+?))?\/?$/.exec(decodeURIComponent(pathname)) ?? [];
    if (!Number.isInteger(page) || page < 1)
      throw new Refusal(400, "page must be one integer, 1 or greater.");
    if (method === "GET" && path === "/datacenters") return showCatalog("datacenters", datacenters, id, page);
    if (method === "GET" && path === "/vm/distributions")
      return showCatalog("distributions", [...(await images()).values()], id, page);
    if (method === "GET" && path === "/vm/types")
      return showCatalog("types", [...(await types()).values()], id, page);
    if (path !== "/vm/instances" || !/^\d*$/.test(id ?? "")) throw notFound();
    const [, token] = /^token (\S+)$/i.exec(headers.authorization ?? "") ?? [];
    if (token === undefined) throw new Refusal(401, "An access token is required.");
    if (method === "GET")
      return id === undefined ? listInstances(token, page, headers["x-filter"]) : showInstance(token, id);
    if (method === "POST" && id === undefined) return createInstance(token, await json(request));
    if (method === "DELETE" && id !== undefined) return call("DELETE", `/vm/instances/${id}`, token);
    throw notFound();
  }

  async function handle(request, response) {
    if (log !== undefined) appendFileSync(log, `${request.method} ${request.url}\n`);
    if (slow > 0) await wait(slow);
    const { status, body } = await respond(request).then(
      (found) => ({ status: 200, body: found }),
      ({ status: refused = 500, errors = [{ reason: "The service failed." }] }) => ({
        status: refused,
        body: { errors },
      }),
    );
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  }

  return createServer((request, response) => void handle(request, response));
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "9002" },
      slow: { type: "string", default: "0" },
      noise: { type: "boolean" },
      fault: { type: "string" },
      log: { type: "string" },
    },
  });
  const { UPSTREAM_URL: upstream = "http://127.0.0.1:8090" } = process.env;
  createOldService({ ...values, upstream, slow: Number(values.slow) })
    .on("error", ({ message }) => {
      console.error(message);
      process.exitCode = 1;
    })
    .listen(values.port, "127.0.0.1", () =>
      console.log(`The old service listens on http://127.0.0.1:${values.port}, with the data of ${upstream}`),
    );
}
