/** The context for compiling the keys of a route and of its calls. */
import type { SourceLocation } from "../../base/index.ts";
import type { SharedCallDefinition } from "../calls/call-definition.ts";
import type { Endpoint } from "../calls/endpoint.ts";
import type { FieldRule } from "../fields/field-definition.ts";
import type { Shape } from "../values/shape.ts";
import type { PathParameterRules } from "../paths/path-parameters.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { WrittenKeys } from "../key-rules.ts";

/** The context for compiling a key: its location in the pack, and the known facts about its route. */
export interface KeyContext {
  /** The location of the key. */
  readonly location: SourceLocation;
  readonly route: SourceLocation;
  readonly pack: SourceLocation;
  /** All keys of the route as the pack writes them. */
  readonly keys: WrittenKeys;
  readonly dialect: DialectDefinition;
  /** Names of the client's path parameters. */
  readonly parameters: readonly string[];
  readonly pathParameters: PathParameterRules;
  readonly names: UpstreamNames;
  /** The main call; undefined if missing. */
  readonly call: Endpoint | undefined;
  /** The calls of the pack that routes share. */
  readonly shared: ReadonlyMap<string, SharedCallDefinition>;
  readonly resource: KeyResource;
  /** All resources of the pack. */
  readonly resources: ReadonlyMap<string, KeyResource>;
  /** The shapes of the client's lists. */
  readonly clientShapes: { readonly list: Shape; readonly item: Shape };
}

/** Names that can be used in braces in paths of the upstream. */
export interface UpstreamNames {
  /** The names that the route uses in the upstream's paths and conditions. */
  readonly used: ReadonlySet<string>;
  /** The names whose values are known before the body is translated: from the path, the query, headers and `values`. */
  readonly ofHead: readonly string[];
  /** The names from the head, from `bulk` and from the body. */
  readonly ofUpstream: readonly string[];
  /** The names of calls before the main call. */
  readonly ofCallsBefore: readonly string[];
  /** All of these names. */
  readonly all: readonly string[];
}

/** The facts about a resource for keys. */
export interface KeyResource {
  readonly name: string;
  /** Names of all members that bodies may contain. */
  readonly inputNames: readonly string[];
  readonly fields: ReadonlyMap<string, FieldRule>;
}
