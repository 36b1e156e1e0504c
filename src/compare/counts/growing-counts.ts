/** Counts to which others are added, within the limits of each client. */
import { hash } from "node:crypto";
import {
  addCases,
  CLIENT_SHARE,
  countCases,
  createRoute,
  examplesOf,
  type FieldCounts,
  MAX_CASES,
  MAX_CLIENTS,
  MAX_EXAMPLES,
  MAX_FIELDS,
  type RouteCounts,
  type SourceCounts,
} from "./counts.ts";
import { lineKey } from "../answers/comparison.ts";
import { createIsSameClient, partsOf, ProvenClients } from "../../gateway/index.ts";

const MAX_ROUTES = 500;
const MAX_LINES = 200;
/** Names that answers of a route have shown. */
const MAX_SEEN = 5000;
/** Bytes of all examples of a source. */
const MAX_EXAMPLE_BYTES = 16 * 1024 * 1024;
/** Clients without a set of cases of their own share this many sets for each route. */
const SHARED_SETS = 20;

/** How many cases counts have room for. */
export interface CaseLimits {
  /** Cases of all routes. */
  readonly cases: number;
  /** Clients of a route that have a set of cases of their own. */
  readonly clients: number;
}

/** The limits of stored counts. */
export const STORED: CaseLimits = { cases: 200_000, clients: 100 };
/** The limits of counts that wait to be stored. */
export const WAITING: CaseLimits = { cases: 20_000, clients: Infinity };

/** Adds numbers by names. @param most Names */
function addTimes(into: Record<string, number>, from: Record<string, number>, most: number): void {
  for (const [name, times] of Object.entries(from))
    if (Object.hasOwn(into, name) || Object.keys(into).length < most) into[name] = (into[name] ?? 0) + times;
}

function addExample(into: SourceCounts, field: FieldCounts, example: FieldCounts["examples"][number]): void {
  if (field.examples.length >= MAX_EXAMPLES || field.examples.some(({ id }) => id === example.id)) return;
  const all = examplesOf(into);
  if (!all.has(example.id)) {
    const isSame = createIsSameClient(field.by);
    let [bytes, ownBytes] = [example.bytes, example.bytes];
    for (const each of all.values()) {
      bytes += each.bytes;
      if (isSame(each.by)) ownBytes += each.bytes;
    }
    if (bytes > MAX_EXAMPLE_BYTES || ownBytes > MAX_EXAMPLE_BYTES * CLIENT_SHARE)
      return void (into.dropped += 1);
  }
  field.examples.push(example);
}

/** Whether counts have room for another field that a client shows first. */
function hasRoomForField({ routes }: SourceCounts, by: string): boolean {
  const fields = Object.values(routes).flatMap((route) => route.fields);
  const own = fields.map((field) => field.by).filter(createIsSameClient(by)).length;
  return fields.length < MAX_FIELDS && own < MAX_FIELDS * CLIENT_SHARE;
}

function addField(into: SourceCounts, route: RouteCounts, from: FieldCounts): void {
  let field = route.fields.find((one) => lineKey(one) === lineKey(from));
  if (!field) {
    if (!hasRoomForField(into, from.by)) return void (into.dropped += 1);
    route.fields.push((field = { ...from, count: 0, unstable: 0, clients: [], examples: [] }));
  }
  field.count += from.count;
  field.unstable += from.unstable;
  field.first = Math.min(field.first, from.first);
  field.last = Math.max(field.last, from.last);
  field.clients = [...new Set([...field.clients, ...from.clients])].slice(0, MAX_CLIENTS);
  for (const example of from.examples) addExample(into, field, example);
}

/**
 * The set of a route that contains the cases of a client. A client is always in one set, so that it never has two
 * shares.
 */
function ownerOf(owners: ProvenClients, by: string, clients: number): string {
  const owner = owners.find(by);
  if (owner !== undefined || owners.size < clients) return owner ?? by;
  // One token of many networks, or one network with many tokens, must not get several sets.
  if (partsOf(by).length > 1) return "others";
  return `others ${Number.parseInt(hash("sha256", by).slice(0, 8), 16) % SHARED_SETS}`;
}

/** Counts that grow. Sums over clients are computed once, because there may be thousands of clients. */
export class GrowingCounts {
  readonly counts: SourceCounts;
  readonly #limits: CaseLimits;
  readonly #ownersOfRoutes = new Map<string, ProvenClients>();
  /** Cases of all routes. */
  #cases = 0;
  /** Cases by names, tokens and networks, and by owners, which may have both a token and a network. */
  readonly #ofParts = new Map<string, number>();
  readonly #ofOwners = new Map<string, number>();

  constructor(counts: SourceCounts, limits: CaseLimits) {
    this.counts = counts;
    this.#limits = limits;
    for (const { cases } of Object.values(counts.routes))
      for (const [owner, each] of Object.entries(cases)) this.#count(owner, countCases(each));
  }

  /** Adds other counts. @returns how many cases found no room */
  add(from: SourceCounts): number {
    this.counts.dropped += from.dropped;
    return Object.entries(from.routes).reduce((sum, [name, route]) => sum + this.addRoute(name, route), 0);
  }

  /** Adds the results of one route. Results without room are dropped. @returns how many cases had no room */
  addRoute(name: string, from: RouteCounts): number {
    const into = this.counts;
    if (!Object.hasOwn(into.routes, name) && Object.keys(into.routes).length >= MAX_ROUTES) {
      into.dropped += 1;
      return 0;
    }
    const route = (into.routes[name] ??= createRoute(from.first));
    for (const each of ["comparisons", "equal", "different", "unstable", "accepted"] as const)
      route[each] += from[each];
    route.first = Math.min(route.first, from.first);
    route.last = Math.max(route.last, from.last);
    route.seen = [...new Set([...route.seen, ...from.seen])].slice(0, MAX_SEEN);
    addTimes(route.notComparable, from.notComparable, Infinity);
    addTimes(route.acceptedLines, from.acceptedLines, MAX_LINES);
    for (const field of from.fields) addField(into, route, field);
    const [differing, dropped] = addCases(route.differing, from.differing, MAX_CASES);
    route.differing = differing;
    const owners = this.#ownersOf(name, route);
    return Object.entries(from.cases).reduce(
      (sum, [client, cases]) => sum + this.#addCases(route, owners, client, cases),
      dropped,
    );
  }

  #ownersOf(name: string, { cases }: RouteCounts): ProvenClients {
    const owners = this.#ownersOfRoutes.get(name) ?? new ProvenClients(Object.keys(cases));
    this.#ownersOfRoutes.set(name, owners);
    return owners;
  }

  /** Adds the cases of a client. @returns how many find no room */
  #addCases(route: RouteCounts, owners: ProvenClients, client: string, added: string): number {
    const { cases: most, clients } = this.#limits;
    const by = ownerOf(owners, client, clients);
    const { [by]: before = "" } = route.cases;
    const room = Math.min(
      most - this.#cases,
      most * CLIENT_SHARE - this.#casesOf(by),
      MAX_CASES * CLIENT_SHARE - countCases(before),
    );
    const [cases, dropped] = addCases(before, added, room);
    if (cases === "") return dropped;
    route.cases[by] = cases;
    owners.add(by);
    this.#count(by, countCases(cases) - countCases(before));
    return dropped;
  }

  #count(owner: string, cases: number): void {
    this.#cases += cases;
    this.#ofOwners.set(owner, (this.#ofOwners.get(owner) ?? 0) + cases);
    for (const part of partsOf(owner)) this.#ofParts.set(part, (this.#ofParts.get(part) ?? 0) + cases);
  }

  /** The cases of all owners that have the name, the token or the network of one: {@link createIsSameClient}. */
  #casesOf(owner: string): number {
    const parts = partsOf(owner);
    const sum = parts.reduce((total, part) => total + (this.#ofParts.get(part) ?? 0), 0);
    // Cases with both the token and the network count for both.
    return parts.length > 1 ? sum - (this.#ofOwners.get(owner) ?? 0) : sum;
  }
}
