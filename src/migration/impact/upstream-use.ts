/**
 * Finds the routes of a pack that use an operation of the upstream, and the names of clients that correspond to its
 * members.
 */
import {
  type Catalog,
  type FieldRule,
  findPath,
  namesIn,
  type Pack,
  type Resource,
  type Route,
  upstreamNamesOf,
} from "../../pack/index.ts";
import type { Change } from "./compare-surfaces.ts";
import type { Effect } from "./noticing-clients.ts";
import { operationKey } from "./surface.ts";

/** How a route uses an operation: its result is the response, a catalog, or data for rules. */
interface Use {
  readonly route: Route;
  readonly role: "answer" | "catalog" | "rule";
  readonly catalog?: Catalog;
}

type Path = readonly string[];

const callersOf = ({ name }: Route, names: readonly string[] = []): Effect => ({
  questions: [{ route: name, concern: "callers" }],
  names,
});

const omittersOf = ({ name }: Route, names: readonly string[]): Effect => ({
  questions: [{ route: name, concern: "omitters", names }],
  names,
});

/** @param sent the names, with the words that change */
const sendersOf = ({ name }: Route, names: readonly string[], sent: readonly string[]): Effect => ({
  questions: [{ route: name, concern: "senders", names: sent }],
  names,
});

const startsWith = (path: Path, start: Path): boolean => start.every((key, index) => path[index] === key);

/** Whether two members are the same, or one contains the other. */
const overlap = (one: Path, other: Path): boolean => startsWith(one, other) || startsWith(other, one);

/** Returns the object of a resource, and its nested objects. */
function resourcesIn(names: readonly string[], { resources }: Pack): Resource[] {
  const found = new Set<string>();
  const pending = [...names];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const resource = resources.get(name);
    if (!resource || found.has(name)) continue;
    found.add(name);
    pending.push(
      ...[...resource.members.values()]
        .flatMap(({ object, catalog }) => [object, catalog])
        .filter((each) => each !== undefined),
      ...(resource.extends === undefined ? [] : [resource.extends]),
    );
  }
  return [...found].flatMap((name) => resources.get(name) ?? []);
}

/** Returns the words in the expressions of a pack: members that they may read. */
export function wordsOfExpressions(sources: Iterable<string>): ReadonlySet<string> {
  const words = new Set<string>();
  for (const source of sources)
    for (const [word] of source.matchAll(/[\p{L}_][\p{L}\p{N}_-]*/gu))
      for (const part of [word, ...word.split("-")]) words.add(part);
  return words;
}

/** The calls of a pack to the upstream. */
export class UpstreamUse {
  readonly #pack: Pack;
  readonly #words: ReadonlySet<string>;
  readonly #uses = new Map<string, Use[]>();
  readonly #base: string;

  /** @param words members that expressions of the pack may read */
  constructor(pack: Pack, words: ReadonlySet<string>) {
    this.#pack = pack;
    this.#words = words;
    this.#base = pack.dialect.upstream.base_path;
    for (const route of pack.routes) this.#addRoute(route);
  }

  #addRoute(route: Route): void {
    const { source, calls, withoutScopes } = route;
    const add = (method: string, path: string, use: Omit<Use, "route">): void => {
      const key = operationKey(`${method} ${path.split("?")[0]}`);
      this.#uses.set(key, [...(this.#uses.get(key) ?? []), { route, ...use }]);
    };
    if ("call" in source) add(source.call.method, source.call.template, { role: "answer" });
    for (const { endpoint, use } of calls)
      add(endpoint.method, endpoint.template, { role: use === "answer" ? "answer" : "rule" });
    const objects = [route.resource.name, ...route.responseObjects];
    for (const { catalog } of resourcesIn(objects, this.#pack))
      for (const { path } of catalog?.calls ?? [])
        if (catalog) add("GET", path, { role: "catalog", catalog });
    if (withoutScopes) this.#addRoute(withoutScopes);
  }

  /** Counts the operations that the pack calls, and those that are in a list of operations. */
  count(operations: Iterable<string>): { readonly called: number; readonly known: number } {
    const keys = new Set([...operations].map((name) => this.#keyOf(name)));
    return { called: this.#uses.size, known: [...this.#uses.keys()].filter((key) => keys.has(key)).length };
  }

  /** Returns the key of an operation of a document, whose paths may contain the upstream's prefix. */
  #keyOf(operation: string): string {
    const [method = "", path = ""] = operationKey(operation).split(" ");
    return `${method} ${path.startsWith(`${this.#base}/`) ? path.slice(this.#base.length) : path}`;
  }

  /** Returns the effect of a change on clients; undefined if no client of the pack can notice it. */
  effectOf(change: Change): Effect | undefined {
    const uses = this.#uses.get(this.#keyOf(change.operation)) ?? [];
    const effects = uses.flatMap((use) => this.#effectOn(use, change) ?? []);
    if (effects.length === 0) return undefined;
    return {
      questions: effects.flatMap(({ questions }) => questions),
      names: [...new Set(effects.flatMap(({ names }) => names))].sort(),
    };
  }

  #effectOn(use: Use, change: Change): Effect | undefined {
    const { route, role } = use;
    if (change.place === null) return callersOf(route);
    const [where = "", ...rest] = change.place.split(".");
    if (where === "answer") return this.#effectOfAnswer(use, rest);
    // The pack writes the parameters into the paths of a route's other calls.
    if (role !== "answer") return undefined;
    if (where === "header") return this.#effectOfHeader(route, rest.join("."), change);
    if (where !== "body") return this.#effectOfParameter(route, rest.join("."), change);
    if (rest.length === 0) return route.body && callersOf(route);
    return effectOfBody(route, rest, change);
  }

  #effectOfHeader(route: Route, name: string, { concern }: Change): Effect | undefined {
    const { headers = {}, filters } = this.#pack.dialect.upstream;
    const own = route.headers?.definition.request ?? {};
    const sent = [...Object.keys(headers), filters?.header ?? "", ...Object.keys(own)];
    const isSent = sent.some((each) => each.toLowerCase() === name.toLowerCase());
    return isSent || concern === "omitters" ? callersOf(route) : undefined;
  }

  #effectOfParameter(route: Route, name: string, { word, concern }: Change): Effect | undefined {
    const parameters = route.query.parameters.filter(({ definition }) =>
      upstreamNamesOf(definition).includes(name),
    );
    const names = parameters.map((parameter) => `query.${parameter.name}`);
    if (concern === "omitters") return omittersOf(route, names);
    if (parameters.length > 0) {
      const isPlain = parameters.every(
        ({ definition }) => definition.values === undefined && definition.write === undefined,
      );
      const sent = names.map((each) => (word !== undefined && isPlain ? `${each}=${word}` : each));
      return sendersOf(route, names, sent);
    }
    if (route.response !== "list") return undefined;
    const { filters } = this.#pack.dialect.upstream;
    const isFilter = filters !== undefined && filters.header === undefined;
    return isFilter || route.lists.paging.upstreamNames.includes(name) ? callersOf(route) : undefined;
  }

  #effectOfAnswer({ route, role, catalog }: Use, path: Path): Effect | undefined {
    const readers = (names: readonly string[]): Effect => ({
      questions: [{ route: route.name, concern: role === "answer" ? "readers" : "callers" }],
      names,
    });
    const isRead = this.#words.has(path.at(-1) ?? "");
    if (role === "rule") return isRead ? readers([]) : undefined;
    const isList = role === "catalog" || route.response === "list";
    const items = isList ? (findPath(route.lists.envelope.upstream.list, "items") ?? []) : [];
    if (isList && !startsWith(path, items)) {
      const used = namesIn(route.lists.envelope.upstream.list).some((name) => overlap(name.path, path));
      return used ? readers([]) : undefined;
    }
    const inItem = path.slice(items.length);
    const object = startsWith(inItem, route.upstreamPath) ? inItem.slice(route.upstreamPath.length) : inItem;
    if (object.length === 0) return readers([]);
    const names = catalog ? [catalog.name] : [route.resource.name, ...route.responseObjects];
    const fields = resourcesIn(names, this.#pack).flatMap((resource) =>
      // A nested object has its members at some path below.
      [...resource.fields].flatMap(([name, { upstream }]) =>
        upstream !== undefined &&
        object.some((_key, index) => overlap(object.slice(index), upstream.split(".")))
          ? [name]
          : [],
      ),
    );
    return fields.length > 0 || isRead ? readers(fields) : undefined;
  }
}

/** Returns the effect of a change of a member of the upstream's body. */
function effectOfBody(route: Route, path: Path, { word, concern }: Change): Effect | undefined {
  const { body, onlyChanges } = route;
  // The upstream may put the object into a wrapper.
  const paths = [path, path.slice(1)].filter(({ length }) => length > 0);
  const isAt = (upstream: string): boolean => paths.some((each) => overlap(each, upstream.split(".")));
  const members = (body?.members ?? []).filter(
    ({ rule }) => rule.upstream !== undefined && isAt(rule.upstream),
  );
  const isAdded = body?.added.some(isAt) === true;
  const isMerged = (body?.mergeSources.length ?? 0) > 0 || onlyChanges !== undefined;
  const names = members.map(({ name }) => `body.${name}`);
  // Some requests only contain parts: an edit only sends the differences.
  if (isMerged) return callersOf(route, names);
  if (concern === "omitters") return isAdded ? undefined : omittersOf(route, names);
  if (isAdded) return callersOf(route, names);
  if (members.length === 0) return undefined;
  const sent = members.map(({ name, rule }) => wordOf(`body.${name}`, rule, word));
  return sendersOf(route, names, sent);
}

/** Returns the client's word for the upstream's. If there is none, the summaries of the member are used. */
const wordOf = (name: string, { values, catalog, write }: FieldRule, word: string | undefined): string =>
  word === undefined || (values ?? catalog ?? write) !== undefined ? name : `${name}=${word}`;
