import type { Access } from "../../dialect/scopes.ts";
import type { Catalog } from "./catalog.ts";
import type { Route } from "./route.ts";
import { createRouter, splitPath, type Pattern } from "../router.ts";

/** What alpha asks of a caller for a v4 call. */
export interface V4Access {
  /**
   * Of every route that makes the call: the strictest are those that all are fulfilled. Of a v4 read it is alpha's own
   * reads alone, where there are any: what an alpha write asks for is for what it changes, or for what it stands for.
   */
  readonly all: readonly Access[];
  /** Whether a token comes of it, which v4 gives its own levels. */
  readonly makesToken: boolean;
}

/** By a v4 path below the prefix; undefined where no alpha route makes such a call. */
export type FindV4Access = (method: string, path: string) => V4Access | undefined;

const READ = "GET";

/** Two readers could take it for different paths; no path that alpha's calls lead to is written so. */
const AMBIGUOUS = /%|\\|;|\/\/|\/$|\/\.{1,2}(?:\/|$)/;

function patternOf(template: string): Pattern {
  const segments = template
    .split("/")
    .filter(Boolean)
    .map((segment) => (segment.includes("{") ? { parameter: segment, type: "text" as const } : segment));
  return { segments };
}

const shapeOf = (template: string): string => template.replaceAll(/\{[^{}]*\}/g, "{}");

/** Made once: which alpha scopes the calls of v4 need, by the routes that make them. */
export function compileV4Access(
  routes: readonly Route[],
  catalogs: Iterable<Catalog>,
  prefix: string,
): FindV4Access {
  const router = createRouter<{ all: Access[]; makesToken: boolean }>();
  const entries = new Map<string, { all: Access[]; makesToken: boolean }>();
  /** The calls of alpha's reads, once all of these are in. */
  let settled: ReadonlySet<string> = new Set();

  function add(method: string, template: string, access: Access, makesToken = false): void {
    const key = `${method} ${shapeOf(template)}`;
    if (method === READ && settled.has(key)) return;
    let entry = entries.get(key);
    if (!entry) {
      entry = { all: [], makesToken };
      entries.set(key, entry);
      router.add(method, patternOf(template), entry);
    }
    entry.all.push(access);
    entry.makesToken ||= makesToken;
  }

  function addRoute({ source, access, mergeParts, tokenLevels }: Route): void {
    if ("call" in source) add(source.call.method, source.call.template, access, tokenLevels?.made);
    for (const { read, write } of mergeParts) {
      add(read.method, read.template, access);
      if (write.method !== read.method) add(write.method, write.template, access);
    }
  }

  const [reads = [], writes = []] = [true, false].map((isRead) =>
    routes.filter(({ name }) => name.startsWith(`${READ} `) === isRead),
  );
  for (const route of reads) addRoute(route);
  for (const { calls } of catalogs) {
    for (const { path } of calls) {
      add(READ, path, "public");
      add(READ, `${path}/{id}`, "public");
    }
  }
  settled = new Set(entries.keys());
  for (const route of writes) addRoute(route);

  return (method, path) => {
    if (!path.startsWith(`${prefix}/`) || AMBIGUOUS.test(path)) return undefined;
    const segments = splitPath(path.slice(prefix.length));
    return segments && router.match(method === "HEAD" ? READ : method, segments)?.route;
  };
}
