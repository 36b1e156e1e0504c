/** The law of types for one route: whatever the upstream responds, the client gets the types of its description. */
import { isObject } from "../../../dialect/json/parse.ts";
import { findPath } from "../../../dialect/shape.ts";
import type { Route } from "../../../mapping/compile/route.ts";
import type { Resource } from "../../../mapping/compile/resource.ts";
import { operationKey } from "../../impact/surface.ts";
import type { ExampleResult } from "../../examples/compare-example.ts";
import { pick, type Random } from "../generate-values.ts";
import type { DescribedApi, DescribedOperation } from "./described-api.ts";
import { misfitsOf, type JsonPath, type Misfit } from "./fits-schema.ts";
import { meetCondition, meetsCondition } from "./meets-condition.ts";
import type { Answer, TrialRequest, Trials } from "./route-trial.ts";
import { applyEdits, type Edits } from "./schema-values.ts";

/** Random cases of several changes at once. */
const COMBINED = 200;
/** Changes that a response gets that has been tried completely in another route. */
const REPEATED = 40;

/** How a route is tried. */
export interface RouteLawOptions {
  /** The new API, which generates values. */
  readonly generator: DescribedApi;
  /** The old API, whose types are expected. */
  readonly expected: DescribedApi;
  readonly results: readonly ExampleResult[];
  readonly random: Random;
  /** Schemas that have been tried, by the objects that clients get of them. */
  readonly tried: Map<string, Set<unknown>>;
  /** Objects for which there are more values than can be tried. */
  readonly incomplete: Set<string>;
}

/** A route that can be tried, with the answer to plain values. */
export interface Prepared {
  readonly route: Route;
  readonly resource: Resource | undefined;
  readonly request: TrialRequest;
  readonly plain: Answer;
  /** The responses of the plain answer that are no plain values. */
  readonly bodies: ReadonlyMap<DescribedOperation, unknown>;
  readonly schema: unknown;
}

/** Something of the upstream that a route shows, and the request with other values of it. */
export interface Varied {
  /** The call whose response, or whose rows of a catalog, have other values. */
  readonly call: string;
  /** The value without changes, and its schema. */
  readonly base: unknown;
  readonly schema: unknown;
  readonly changes: Changes;
  /** Whether the upstream can respond so: a list that is asked for with a condition has no other items. */
  readonly isPossible: (body: unknown) => boolean;
  readonly send: (body: unknown) => Promise<Answer>;
}

/** The changes of an object, or of the first item of a list. */
interface Changes {
  /** The keys that lead to it. */
  readonly prefix: JsonPath;
  readonly edits: readonly Edits[];
  readonly schema: unknown;
}

/** A case that breaks a type. */
export interface Broken {
  readonly field: string;
  readonly edits: Edits;
  readonly varied: Varied;
}

/** The keys that lead to a route's object in an answer: an item has its index. */
const objectPath = (route: Route): readonly string[] => {
  const items = findPath(route.lists.envelope.client.list, "items", { list: route.list }) ?? [];
  return route.response === "list" ? [...items, ...route.clientPath] : route.clientPath;
};

/** The field that a place in an answer belongs to; undefined for a place outside of the object. */
export function fieldAt({ route, resource }: Prepared, path: JsonPath): string | undefined {
  const names = path.filter((key) => typeof key === "string");
  const prefix = objectPath(route);
  if (!prefix.every((key, index) => names[index] === key)) return undefined;
  const inside = names.slice(prefix.length).join(".");
  const fields = [...(resource?.fields.keys() ?? [])];
  const owner = fields
    .filter((name) => inside === name || inside.startsWith(`${name}.`))
    .toSorted((one, other) => other.length - one.length)[0];
  return owner ?? (inside === "" ? undefined : inside);
}

/** What an answer breaks, by field; the empty field stands for the route as a whole. */
export function brokenFields(
  prepared: Prepared,
  answer: Answer,
  { expected }: Pick<RouteLawOptions, "expected">,
): Map<string, Misfit[]> {
  if (answer.failure !== undefined || answer.status >= 500)
    return new Map([
      ["", [{ path: [], actual: answer.failure ?? answer.status, expected: "a response", schema: {} }]],
    ]);
  // An error that the pack means, such as a state that forbids the request.
  if (answer.status >= 400) return new Map();
  const misfits = misfitsOf(prepared.schema, answer.body, expected.reading);
  return Map.groupBy(misfits, ({ path }) => fieldAt(prepared, path) ?? "");
}

/** Sends requests until one succeeds, with plain values and with those of golden cases. */
export async function prepareRoute(
  trials: Trials,
  route: Route,
  { generator, expected, results, random }: RouteLawOptions,
): Promise<Prepared | { readonly problem: string }> {
  const described = expected.ofTemplate(route.name);
  if (!described) return { problem: "the old description does not have this route" };
  const written = results
    .filter(({ route: own, example }) => own === route && example.definition.response.status < 300)
    .map(({ example }) => example.definition.upstream);
  const [{ base_path: base }, none] = [trials.pack.dialect.upstream, new Map<DescribedOperation, unknown>()];
  const ofCases = written.map((calls) => {
    const all = calls.flatMap(({ request, response: { body } }): [DescribedOperation, unknown][] => {
      const [method = "", path = ""] = request.split(" ");
      const operation = generator.ofRequest(method, path.startsWith(`${base}/`) ? path : base + path);
      return operation && body !== undefined ? [[operation, body]] : [];
    });
    // The first response of a call counts.
    return new Map(all.toReversed());
  });
  let problem = "no request succeeds";
  for (const bodies of [none, ...ofCases.slice(0, 4)])
    for (const request of trials.requests(route, results, random)) {
      const plain = await trials.send(request, bodies);
      const unknown = plain.calls.find(({ operation }) => !operation);
      if (unknown)
        problem = `the new document has no ${unknown.request.method} ${unknown.request.path.split("?")[0]}`;
      if (plain.status < 200 || plain.status >= 300) continue;
      const { byStatus } = described;
      const schema = byStatus.get(String(plain.status)) ?? byStatus.get("2XX") ?? described.schema;
      const resource = trials.pack.resources.get(route.responseObjects[0] ?? route.resource.name);
      const prepared = { route, resource, request, plain, bodies, schema };
      return route.where === undefined ? prepared : await meetWhere(trials, prepared, generator);
    }
  return { problem };
}

/** Gives the item of a list with a condition values that meet it. */
async function meetWhere(trials: Trials, prepared: Prepared, api: DescribedApi): Promise<Prepared> {
  const { route, plain, request } = prepared;
  const bodies = new Map(prepared.bodies);
  for (const { operation, body } of plain.calls) {
    const keys = operation && prefixOf(prepared, operation, api);
    if (operation && keys && keys.length > 0)
      bodies.set(operation, applyEdits(body, meetCondition(route.where, [...keys, 0])));
  }
  return { ...prepared, bodies, plain: await trials.send(request, bodies) };
}

/** Whether the response of a call may have other values: no condition of the route depends on it. */
function isVaried({ wait, prerequisites }: Route, operation: DescribedOperation): boolean {
  const conditions = [...prerequisites, ...(wait ? [wait] : [])].map(({ endpoint }) =>
    operationKey(`${endpoint.method} ${endpoint.template.split("?")[0]}`),
  );
  return operation.schema !== undefined && !conditions.includes(operationKey(operation.name));
}

/** The keys that lead to the object of a response, or to the first item of a list. */
function prefixOf({ route }: Prepared, operation: DescribedOperation, api: DescribedApi): string[] {
  const { upstream } = route.lists.envelope;
  const items = findPath(upstream.list, "items", { list: route.resource.upstreamList ?? route.list }) ?? [];
  const all = api.values.at(operation.schema, items);
  return all.some(({ items: each }) => each !== undefined) ? [...items] : [];
}

/** All changes of the response of an operation: those of the object or of the first item. */
function editsOf(prepared: Prepared, operation: DescribedOperation, api: DescribedApi): Changes {
  const keys = prefixOf(prepared, operation, api);
  const [list] = api.values.at(operation.schema, keys);
  const isList = list?.["items"] !== undefined;
  const prefix: JsonPath = isList ? [...keys, 0] : [];
  const schema = isList ? list["items"] : operation.schema;
  return { prefix, edits: [...api.values.edits(schema, prefix)], schema };
}

const isWithin = (one: JsonPath, other: JsonPath): boolean => one.every((key, index) => other[index] === key);

/** Changes of some of the places, more often of many; of places in each other one alone. */
function combine(places: readonly (readonly Edits[])[], random: Random): Edits {
  const share = Math.sqrt(random());
  const chosen: Edits[] = [];
  for (const edits of places) {
    const edit = pick(edits, random);
    const path = edit?.[0]?.path;
    if (!edit || !path || random() > share) continue;
    const isApart = chosen.every((other) =>
      other.every(({ path: taken }) => !isWithin(path, taken) && !isWithin(taken, path)),
    );
    if (isApart) chosen.push(edit);
  }
  return chosen.flat();
}

/** Values that all changed responses of one call may have together. */
const MAX_WORK = 100_000;

const countValues = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((count, each) => count + countValues(each), 1)
    : 1;

/** As many changes of a response as its size allows, from all of its places. */
function affordable(edits: readonly Edits[], base: unknown): readonly Edits[] {
  const step = Math.ceil((edits.length * countValues(base)) / MAX_WORK);
  return edits.filter((_edits, index) => index % step === 0);
}

/** The cases of one operation: all changes, or some if another route has shown them for the same object; and several at once. */
function casesOf(
  name: string,
  { changes: { edits: all, schema }, base }: Varied,
  { random, tried, incomplete }: RouteLawOptions,
): Edits[] {
  const edits = affordable(all, base);
  if (edits.length < all.length) incomplete.add(name);
  const known = tried.get(name) ?? new Set();
  tried.set(name, known);
  const some = known.has(schema)
    ? Array.from({ length: Math.min(REPEATED, edits.length) }, () => pick(edits, random) ?? [])
    : edits;
  known.add(schema);
  const places = [...Map.groupBy(edits, ([first]) => JSON.stringify(first?.path)).values()];
  const combined = Array.from({ length: places.length > 1 ? COMBINED : 0 }, () => combine(places, random));
  return [...some, ...combined];
}

/** Whether the upstream can respond so to a list that is asked for with a condition: it has no other items then. */
const isPossible =
  ({ where, response }: Route, { prefix }: Changes) =>
  (body: unknown): boolean =>
    where === undefined || response !== "list" || meetsCondition(where, applyPath(body, prefix));

const applyPath = (value: unknown, path: JsonPath): unknown =>
  path.reduce<unknown>(
    (found, key) => (typeof found === "object" && found !== null ? Reflect.get(found, key) : undefined),
    value,
  );

/** Responses of operations that are no plain values. */
type Bodies = ReadonlyMap<DescribedOperation, unknown>;

/** The response of a call that a request leads to. */
function variedCall(
  trials: Trials,
  prepared: Prepared,
  operation: DescribedOperation,
  { bodies, api }: { readonly bodies: Bodies; readonly api: DescribedApi },
): Varied {
  const changes = editsOf(prepared, operation, api);
  return {
    call: operation.name,
    base: bodies.has(operation) ? bodies.get(operation) : trials.upstream.plain(operation),
    schema: operation.schema,
    changes,
    isPossible: isPossible(prepared.route, changes),
    send: (body) => trials.send(prepared.request, new Map([...bodies, [operation, body]])),
  };
}

/** The rows of the catalog that a route shows: the first row of each call has other values. */
function variedRows(trials: Trials, { route, request }: Prepared, { generator }: RouteLawOptions): Varied[] {
  const calls = "catalog" in route.source ? route.source.catalog.calls : [];
  return calls.flatMap(({ path }) => {
    const call = `GET ${path}`;
    const operation = generator.ofTemplate(call);
    const items = findPath(trials.pack.lists.upstream, "items", {
      list: route.resource.upstreamList ?? route.list,
    });
    const [list] = operation ? generator.values.at(operation.schema, items ?? []) : [];
    if (list?.["items"] === undefined) return [];
    const plain = generator.values.plain(list["items"]);
    const [first] = trials.lists[call] ?? [];
    const row = isObject(plain) && isObject(first) ? { ...plain, ...first } : plain;
    const schema = list["items"];
    return [
      {
        call,
        base: [row],
        isPossible: () => true,
        schema: { type: "array", items: schema },
        changes: { prefix: [0], edits: [...generator.values.edits(schema, [0])], schema },
        send: (rows) => trials.sendWithRows(request, { [call]: Array.isArray(rows) ? rows : [] }),
      },
    ];
  });
}

/** Runs the cases of one response. Yields what each breaks, with its response and its answer. */
async function* tryVaried(prepared: Prepared, varied: Varied, options: RouteLawOptions) {
  const { route, resource } = prepared;
  for (const edits of [[], ...casesOf(resource?.name ?? route.name, varied, options)]) {
    const body = applyEdits(varied.base, edits);
    if (!varied.isPossible(body)) continue;
    const answer = await varied.send(body);
    const fields = [...brokenFields(prepared, answer, options).keys()];
    yield { body, answer, broken: fields.map((field): Broken => ({ field, edits, varied })) };
  }
}

/** Tries a route: each call that it leads to, also those that some values lead to. Yields what each case breaks. */
export async function* tryRoute(
  trials: Trials,
  prepared: Prepared,
  options: RouteLawOptions,
): AsyncGenerator<readonly Broken[]> {
  const found = new Map<DescribedOperation, Bodies>();
  const add = ({ calls }: Answer, bodies: Bodies): void => {
    for (const { operation } of calls)
      if (operation && !found.has(operation) && isVaried(prepared.route, operation))
        found.set(operation, bodies);
  };
  add(prepared.plain, prepared.bodies);
  // Operations that are found meanwhile come last.
  for (const [operation, bodies] of found) {
    const varied = variedCall(trials, prepared, operation, { bodies, api: options.generator });
    for await (const { body, answer, broken } of tryVaried(prepared, varied, options)) {
      add(answer, new Map([...bodies, [operation, body]]));
      yield broken;
    }
  }
  for (const varied of variedRows(trials, prepared, options))
    for await (const { broken } of tryVaried(prepared, varied, options)) yield broken;
}
