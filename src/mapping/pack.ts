import type { Grammar } from "../dialect/filter/grammar.ts";
import type { Scopes } from "../dialect/scopes.ts";
import type { DialectDefinition } from "./schema/definition.ts";
import type { Endpoint } from "./compile/endpoint.ts";
import type { Resource } from "./compile/resource.ts";
import type { Route } from "./compile/route.ts";
import type { Parameters } from "./router.ts";
import type { CoverageGaps, ApiSurface } from "./compile/api-surface.ts";
import type { FindV4Access } from "./compile/upstream-access.ts";

/** What a path is answered by: one route, or several to choose from by the body. */
export interface Match {
  readonly routes: readonly Route[];
  readonly parameters: Parameters;
}

/** A mapping pack, read, checked, renamed to the service's words and compiled. A request only runs its functions. */
export interface Pack {
  readonly dialect: DialectDefinition;
  readonly scopes: Scopes;
  readonly grammar: Grammar;
  readonly resources: ReadonlyMap<string, Resource>;
  readonly routes: readonly Route[];
  /** All that alpha has, where the pack says so. */
  readonly surface: ApiSurface | undefined;
  /** What of it the pack leaves out in silence. */
  readonly gaps: CoverageGaps;
  /** Methods of routes that take a file. */
  readonly takesFiles: ReadonlySet<string>;
  /** A read by which v4 tells whether it takes a token; a pack without routes that take a file may have none. */
  readonly tokenCheck: Endpoint | undefined;
  /** Segments of alpha's prefix, which every path of it begins with. */
  readonly prefix: readonly string[];
  /** By a path below alpha's prefix, given as decoded segments. */
  match(method: string, segments: readonly string[]): Match | undefined;
  /** What alpha's routes need for the v4 calls that they make. */
  readonly v4Access: FindV4Access;
  /** A route by its name. */
  route(name: string): Route | undefined;
}
