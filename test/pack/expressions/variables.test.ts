/** One set of variables in all expressions, and the functions of a pack: each place of a pack, with each variable. */
import { describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { json, type Responder } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";
import type { SmallPack } from "../../support/small-pack.ts";

/** A condition on each variable that is true of the request below. */
const VARIABLES: Readonly<Record<string, string>> = {
  path: '$path.account = "ann"',
  query: '$query.lang = "en" and $query.sort = "id"',
  headers: '$headers."x-a" = "1"',
  body: '$body.title = "Waves"',
  now: '$now = $now and $substring($now, 0, 2) = "20"',
  calls: "$calls.early.ok",
  request: '$request.name = "Waves"',
  response: "$exists($response)",
  response_headers: '$response_headers."x-b" = "2"',
  status: "$status = 200",
};

const ALL = Object.keys(VARIABLES);
const OF_HEAD = ["path", "query", "headers", "body", "now"];
const BEFORE_CALL = [...OF_HEAD, "calls"];
const BEFORE_RESPONSE = [...BEFORE_CALL, "request"];
/** Without those of a body: a GET has none. */
const OF_READ = ["path", "query", "headers", "now", "response", "response_headers", "status"];

/** Responses with a header. */
const responded = json(200, { id: 7, name: "Waves", ok: true, items: [] }, { "x-b": "2" });
const listed = json(200, [{ id: 7, name: "Waves" }], { "x-b": "2" });
const failed = json(500, {});

/** What a place with a condition is part of. */
interface Place {
  readonly known: readonly string[];
  /** Variables that `check` can't know to have no value. */
  readonly neverEarly?: readonly string[];
  readonly route?: (source: string) => object;
  readonly book?: (source: string) => object;
  readonly client?: (source: string) => object;
  readonly respond?: Responder;
  readonly call?: string;
}

const CREATE = "POST /ann/books?lang=en";
const EARLY = { name: "early", at: "before", upstream: "GET /early" };
const YES = (source: string) => `(${source}) ? "yes" : "no"`;
const later = (call: object) => ({ calls: [EARLY, call] });
const REPEAT = { interval_ms: 10, timeout_ms: 30 };

/** Of each place: the response to the client, or a request to the upstream, has "yes" if all conditions are true. */
const PLACES: Readonly<Record<string, Place>> = {
  "`when` of a route": {
    known: OF_HEAD,
    book: (source) => ({
      routes: [
        { ...routeOf({}), upstream: "POST /yes", when: source },
        { ...routeOf({}), upstream: "POST /no" },
      ],
    }),
  },
  "`write` of a parameter": {
    known: OF_HEAD,
    route: (source) => ({ query: { parameters: { lang: { upstream: "l", write: YES(source) } } } }),
  },
  "`upstream` of a parameter": {
    known: OF_HEAD,
    route: (source) => ({ query: { parameters: { lang: { upstream: { l: YES(source) } } } } }),
  },
  "`write` of a header": {
    known: BEFORE_RESPONSE,
    route: (source) => ({ headers: { request: { "X-Test": { write: YES(source) } } } }),
  },
  "`write` of a header of every call": {
    known: OF_HEAD,
    route: (source) => ({ headers: { request: { "X-Test": { write: YES(source), every_call: true } } } }),
  },
  "`read` of a header": {
    known: ALL,
    route: (source) => ({ headers: { response: { "X-Test": { read: YES(source) } } } }),
  },
  "`read` of a header of all routes": {
    known: ALL,
    client: (source) => ({ headers: { response: { "X-Test": { read: YES(source) } } } }),
  },
  "`read` of a header of an error": {
    known: ALL.filter((name) => name !== "status"),
    // It is the client's.
    neverEarly: ["status"],
    route: (source) => ({ headers: { response: { "X-Test": { read: YES(source), on: "error" } } } }),
    respond: json(404, { ok: true }, { "x-b": "2" }),
  },
  "`read` of an entity tag": {
    known: ALL,
    route: (source) => ({ headers: { response: { ETag: { read: YES(source) } } } }),
  },
  "`read` of a field": { known: ALL, book: (source) => fieldsWith({ test: { read: YES(source) } }) },
  "`write` of a field": {
    known: BEFORE_CALL,
    book: (source) => fieldsWith({ title: { upstream: "name", write: YES(source) } }),
  },
  "`loss_when` of a field": {
    known: ALL,
    book: (source) => fieldsWith({ title: { upstream: "name", loss_when: source, loss: "yes" } }),
  },
  "`message` of a check": {
    known: BEFORE_RESPONSE,
    book: (source) => bodyWith({ checks: [{ field: "title", message: `(${source}) ? "yes"` }] }),
  },
  "`when` of a call before": {
    known: BEFORE_CALL,
    route: (source) => later({ at: "before", upstream: "GET /yes", when: source }),
  },
  "`values` of a call before": {
    known: BEFORE_CALL,
    route: (source) => later({ at: "before", upstream: "GET /{v}", values: { v: YES(source) } }),
  },
  "`body` of a call before": {
    known: BEFORE_CALL,
    route: (source) => later({ at: "before", upstream: "POST /x", body: `{ "v": ${YES(source)} }` }),
  },
  "`each` of a call before": {
    known: BEFORE_CALL,
    route: (source) => later({ at: "before", upstream: "GET /{each}", each: YES(source) }),
  },
  "`until` of a call before": {
    known: [...BEFORE_CALL, "response", "response_headers", "status"],
    route: (source) =>
      later({
        at: "before",
        upstream: "GET /x",
        repeat: { until: source, ...REPEAT },
        unfinished: { message: "no" },
        checks: [{ message: '"yes"' }],
      }),
  },
  "`checks` of a call before": {
    known: ALL,
    route: (source) =>
      later({ at: "before", upstream: "GET /x", checks: [{ message: `(${source}) ? "yes"` }] }),
  },
  "`when` of a call": { known: ALL, route: (source) => later({ upstream: "GET /yes", when: source }) },
  "`values` of a call": {
    known: ALL,
    route: (source) => later({ upstream: "GET /{v}", values: { v: YES(source) } }),
  },
  "`body` of a call": {
    known: ALL,
    route: (source) => later({ upstream: "POST /x", body: `{ "v": ${YES(source)} }` }),
  },
  "`each` of a call": {
    known: ALL,
    route: (source) => later({ upstream: "GET /{each}", each: YES(source) }),
  },
  "`until` of a call": {
    known: ALL,
    route: (source) =>
      later({
        upstream: "GET /x",
        repeat: { until: source, ...REPEAT },
        answer: '{ "id": "yes" }',
        unfinished: { message: "no" },
      }),
  },
  "`failed` of a call": {
    known: ALL,
    route: (source) =>
      later({
        upstream: "GET /x",
        answer: true,
        repeat: {
          until: "false",
          failed: { when: source, error: `{ "message": ${YES(source)} }` },
          ...REPEAT,
        },
      }),
  },
  "`answer` of a call": {
    known: ALL,
    route: (source) => later({ upstream: "GET /x", answer: `{ "id": ${YES(source)} }`, fallback: "{}" }),
  },
  "`checks` of a call": {
    known: ALL,
    route: (source) => later({ upstream: "GET /x", checks: [{ message: `(${source}) ? "yes"` }] }),
  },
  "`fallback` of a call": {
    known: ALL,
    route: (source) => later({ upstream: "GET /fails", answer: true, fallback: `{ "id": ${YES(source)} }` }),
  },
  "`unfinished` of a call": {
    known: ALL,
    route: (source) =>
      later({
        upstream: "GET /x",
        repeat: { until: "false", ...REPEAT },
        answer: true,
        unfinished: { body: `{ "id": ${YES(source)} }` },
      }),
  },
  "`exists` of a route": {
    known: ALL,
    route: (source) => ({ exists: source }),
    book: () => fieldsWith({ test: { const: "yes" } }),
  },
  "`one_of` of a route": {
    known: ALL,
    route: (source) => ({ one_of: [{ object: "sign", when: source }, { object: "book" }] }),
    book: () => ({ objects: { sign: { fields: { sign: { const: "yes" } } } } }),
  },
  "`ids` of a request for many": {
    known: OF_HEAD,
    route: (source) => ({
      upstream: "POST /items/{id}",
      bulk: { parameter: "id", ids: YES(source), most: 5 },
    }),
  },
  "`include` of a whole list": {
    known: OF_READ,
    route: (source) => ({
      ...LIST,
      aggregate: { max_items: 10, include: source },
    }),
    book: () => fieldsWith({ test: { const: "yes" } }),
    respond: listed,
    call: "GET /ann/books?lang=en",
  },
  "`read` of a field of a whole list": {
    known: OF_READ,
    route: () => ({ ...LIST, aggregate: { max_items: 10 } }),
    book: (source) => fieldsWith({ test: { read: YES(source) } }),
    respond: listed,
    call: "GET /ann/books?lang=en",
  },
  "`read` of a field of a list": {
    known: OF_READ,
    route: () => LIST,
    book: (source) => fieldsWith({ test: { read: YES(source) } }),
    respond: listed,
    call: "GET /ann/books?lang=en",
  },
};

const LIST = {
  client: "GET /:account/books",
  upstream: "GET /items",
  response: "list",
  body: undefined,
  calls: undefined,
};

const routeOf = (keys: object) => ({
  client: "POST /:account/books",
  upstream: "POST /items",
  body: "create",
  ...keys,
});

const fieldsWith = (fields: object) => ({ fields: { id: "id", title: "name", ...fields } });

const bodyWith = (keys: object) => ({
  bodies: {
    create: { schema: { type: "object", properties: { title: { type: "string" } } }, ...keys },
  },
});

function packOf({ known, route, book, client }: Place, source: string): SmallPack {
  const hasCalls = known.includes("calls") ? { calls: [EARLY] } : {};
  const sorted = { sort: { ignore: true, default: "id" } };
  const own = routeOf({ ...hasCalls, ...route?.(source) }) as { query?: { parameters: object } };
  return {
    client: {
      credentials: { header: "X-Key" },
      responses: { error: { message: "$message" } },
      query: { parameters: sorted },
      ...client?.(source),
    },
    upstream: { credentials: { header: "X-Key" }, responses: { error: { message: "$message" } } },
    pack: { messages: { no: "no" }, functions: { same: "function($value) { $value }" } },
    book: { ...bodyWith({}), routes: [own], ...book?.(source) },
  };
}

/** All conditions, by a function of the pack. */
const conditionOn = (names: readonly string[]) =>
  `$same(${names.map((name) => VARIABLES[name]).join(" and ")})`;

describe("a variable has its value in", () => {
  test.each(Object.entries(PLACES))("%s", async (_name, place) => {
    const gateway = await startSmallGateway(packOf(place, conditionOn(place.known)), RECORDING);
    const { send, service, lastRecord } = gateway;
    service.respondWith((call, response) => {
      const isOwn = call.path === "/early" || call.path === "/x" || call.path.includes("es");
      const respond = call.path === "/fails" ? failed : isOwn ? responded : (place.respond ?? responded);
      return respond(call, response);
    });
    const { call = CREATE } = place;
    const { body, headers } = await send(call, {
      headers: { "x-a": "1", "x-key": "secret" },
      ...(call.startsWith("POST") && { body: { title: "Waves" } }),
    });
    const seen = JSON.stringify([
      body,
      headers.get("x-test"),
      headers.get("etag"),
      service.calls.map((sent) => [sent.path, sent.headers["x-test"], sent.received().toString()]),
      (JSON.parse(await lastRecord()) as { records: { losses: unknown }[] }).records[0]?.losses,
    ]);
    expect(seen).toContain("yes");
  });
});

describe("check says which variables have no value yet in", () => {
  test.each(Object.entries(PLACES).filter(([, { known }]) => known.includes("body")))(
    "%s",
    (_name, place) => {
      const early = ALL.filter((name) =>
        faultsOfSmallPack(packOf(place, `$exists($${name})`)).some((fault) =>
          fault.includes(`$${name} has no value here: `),
        ),
      );
      expect(early).toEqual(
        ALL.filter((name) => ![...place.known, ...(place.neverEarly ?? [])].includes(name)),
      );
    },
  );
});

test.each(ALL)("check says that the objects of a catalog have no $%s", (name) => {
  const pack: SmallPack = {
    book: {
      fields: { id: "id", test: { read: `$exists($${name})` } },
      catalog: { upstream: [{ request: "GET /items" }], stub: '{ "id": $id }' },
      routes: [{ client: "GET /books", catalog: true, response: "list" }],
    },
  };
  expect(faultsOfSmallPack(pack)).toEqual([
    "a catalog has no request: its objects are translated once for all requests",
  ]);
});
