import type { Scopes } from "../credentials/scopes.ts";
import type { AcceptedDifference } from "../schema/accepted-definition.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { Dialects } from "./dialects.ts";
import type { PassedHeaders } from "../headers/headers.ts";
import type { TranslateLocation } from "../routes/locations.ts";
import type { Endpoint } from "../calls/endpoint.ts";
import type { Resource } from "../routes/resource.ts";
import type { Route } from "../routes/route.ts";
import type { LossNames, SentNames } from "../routes/sent-names.ts";
import type { Parameters } from "../paths/router.ts";
import type { CoverageGaps, ApiSurface } from "../routes/api-surface.ts";
import type { FindV4Access } from "../routes/upstream-access.ts";

/** The routes of a path: one, or several from which the body selects one. */
export interface Match {
  readonly routes: readonly Route[];
  readonly parameters: Parameters;
}

/** A mapping pack: loaded, validated, renamed to the service's words and compiled. A request only runs its functions. */
export interface Pack extends Dialects {
  /** Identifies the pack: 16 hex digits, the same for the same files and product words. */
  readonly hash: string;
  readonly dialect: DialectDefinition;
  readonly scopes: Scopes;
  readonly resources: ReadonlyMap<string, Resource>;
  readonly routes: readonly Route[];
  /** The names that clients may send to a route, by the name of the route. */
  readonly sentNames: ReadonlyMap<string, SentNames>;
  /** The possible losses of the requests and responses of a route, by the name of the route. */
  readonly lossNames: ReadonlyMap<string, LossNames>;
  /** Everything that alpha has; undefined if the pack does not declare it. */
  readonly surface: ApiSurface | undefined;
  /** Differences from the old service that the author has accepted. */
  readonly acceptedDifferences: readonly AcceptedDifference[];
  /** Finds the parts of the surface that the pack does not map. */
  gaps(): CoverageGaps;
  /** Methods of the routes that take a file. */
  readonly takesFiles: ReadonlySet<string>;
  /** A v4 GET that checks whether v4 accepts a token. Only needed by routes that take a file. */
  readonly tokenCheck: Endpoint | undefined;
  /** Segments of the prefix of all alpha paths. */
  readonly prefix: readonly string[];
  /** Finds the routes of a path. @param segments Decoded segments after the prefix. */
  match(method: string, segments: readonly string[]): Match | undefined;
  /** Finds the access rules of alpha for a v4 call. */
  readonly v4Access: FindV4Access;
  /** The headers of all routes; undefined if none pass. */
  readonly commonHeaders: PassedHeaders | undefined;
  /** Whether a header has links with a host. */
  readonly hasAbsoluteHeaders: boolean;
  /** Translates addresses of the upstream in `Location`. */
  readonly locate: TranslateLocation;
  /** Returns a route by its name, `GET /vm/instances/:id`. */
  route(name: string): Route | undefined;
}
