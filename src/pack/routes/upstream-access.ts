import type { Access } from "../credentials/scopes.ts";
import type { Catalog } from "../calls/compile-catalog.ts";
import type { Endpoint } from "../calls/endpoint.ts";
import type { Route } from "./route.ts";
import { createRouter, parseSegment, splitPath, type Pattern } from "../paths/router.ts";

/** Alpha's access rules for a v4 call. The native proxy enforces them for tokens with alpha levels. */
interface V4Access {
  /**
   * The rules of all routes that send the call. A token must meet all of them. For a v4 GET, only alpha GETs and
   * routes that only read count, if there are any: an alpha write needs its scope for the change, not for its reads.
   */
  readonly required: readonly Access[];
  /** Whether the call creates a token. v4 then assigns v4 levels to it. */
  readonly makesToken: boolean;
}

/** Finds alpha's access rules for a v4 path with the prefix; undefined if no alpha route sends such a call. */
export type FindV4Access = (method: string, path: string) => V4Access | undefined;

const READ = "GET";

/** Matches paths that servers may interpret differently. No call of an alpha route has such a path. */
const AMBIGUOUS = /%|\\|;|\/\/|\/$|\/\.{1,2}(?:\/|$)/;

/** Returns the pattern of a call without its query, because a different query does not change the call. */
function patternOf(template: string): Pattern {
  const [path = ""] = template.split("?");
  const segments = path
    .split("/")
    .filter(Boolean)
    .map((segment) => parseSegment(segment, () => "text"));
  return { segments };
}

const shapeOf = (template: string): string => template.replace(/\?.*/, "").replaceAll(/\{[^{}]*\}/g, "{}");

/** Collects the alpha scopes that each v4 call needs, once per pack. */
export function compileV4Access(
  routes: readonly Route[],
  catalogs: Iterable<Catalog>,
  prefix: string,
): FindV4Access {
  const router = createRouter<{ required: Access[]; makesToken: boolean }>();
  const entries = new Map<string, { required: Access[]; makesToken: boolean }>();

  const keyOf = (method: string, template: string): string => `${method} ${shapeOf(template)}`;

  function add(method: string, template: string, access: Access, makesToken = false): void {
    const key = keyOf(method, template);
    let entry = entries.get(key);
    if (!entry) {
      entry = { required: [], makesToken };
      entries.set(key, entry);
      router.add(method, patternOf(template), entry);
    }
    entry.required.push(access);
    entry.makesToken ||= makesToken;
  }

  /** Adds the calls of a route. @param known keys of GETs that need no further rule */
  function addRoute({ source, access, calls, tokens }: Route, known: ReadonlySet<string> = new Set()): void {
    const isNew = ({ method, template }: Endpoint): boolean =>
      method !== READ || !known.has(keyOf(method, template));
    if ("call" in source && isNew(source.call))
      add(source.call.method, source.call.template, access, tokens?.created);
    for (const { place, endpoint } of calls)
      if (place === "beside" && isNew(endpoint)) add(endpoint.method, endpoint.template, access);
  }

  const isRead = ({ isSafe, name }: Route): boolean => isSafe || name.startsWith(`${READ} `);
  for (const route of routes) if (isRead(route)) addRoute(route);
  for (const { calls } of catalogs) {
    for (const { path } of calls) {
      add(READ, path, "public");
      add(READ, `${path}/{id}`, "public");
    }
  }
  const ofReads = new Set(entries.keys());
  for (const route of routes) if (!isRead(route)) addRoute(route, ofReads);

  return (method, path) => {
    if (!path.startsWith(`${prefix}/`) || AMBIGUOUS.test(path)) return undefined;
    const segments = splitPath(path.slice(prefix.length));
    return segments && router.match(method === "HEAD" ? READ : method, segments)?.route;
  };
}
