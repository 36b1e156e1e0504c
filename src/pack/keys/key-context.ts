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
  readonly location: SourceLocation;
  readonly route: SourceLocation;
  readonly pack: SourceLocation;
  readonly keys: WrittenKeys;
  readonly dialect: DialectDefinition;
  readonly parameters: readonly string[];
  readonly pathParameters: PathParameterRules;
  readonly names: UpstreamNames;
  readonly call: Endpoint | undefined;
  readonly shared: ReadonlyMap<string, SharedCallDefinition>;
  readonly resource: KeyResource;
  readonly resources: ReadonlyMap<string, KeyResource>;
  readonly clientShapes: { readonly list: Shape; readonly item: Shape };
}

export interface UpstreamNames {
  /** The names that the route uses in the upstream's paths and conditions. */
  readonly used: ReadonlySet<string>;
  /** The names whose values are known before the body is translated: from the path, the query, headers and `values`. */
  readonly ofHead: readonly string[];
  /** The names from the head, from `bulk` and from the body. */
  readonly ofUpstream: readonly string[];
  readonly ofCallsBefore: readonly string[];
  readonly all: readonly string[];
}

export interface KeyResource {
  readonly name: string;
  readonly inputNames: readonly string[];
  readonly fields: ReadonlyMap<string, FieldRule>;
}
