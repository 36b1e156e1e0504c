/** The names that a route may use in braces in paths of the upstream, by the source of their values. */
import type { SourceLocation } from "../../base/index.ts";
import type { BodyRules } from "../bodies/body.ts";
import type { CallDefinition } from "../calls/call-definition.ts";
import { keysOfName, NAME_IN_BRACES } from "../calls/endpoint.ts";
import { headerPathNames } from "../headers/headers.ts";
import type { UpstreamNames } from "../keys/key-context.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { RouteDefinition } from "../keys/route-keys.ts";
import { type DialectQuery, queryPathNames } from "../parameters/route-query.ts";

/** The parts of a route that define names. */
interface NamedParts {
  /** The client's path parameters. */
  readonly parameters: readonly string[];
  readonly body: Pick<BodyRules, "toPath"> | undefined;
  /** The calls of the route in addition to its main call. */
  readonly calls: readonly CallDefinition[];
}

/** The parts of a pack that may define names. */
interface NamesContext {
  readonly dialect: DialectDefinition;
  readonly query: DialectQuery;
}

/** Returns the names in braces in the paths of a route's calls, and in its condition: `order` for `{order.customer}`. */
function namesInBraces(
  { upstream, where }: Pick<RouteDefinition, "upstream" | "where">,
  calls: readonly CallDefinition[],
): ReadonlySet<string> {
  const texts = [upstream, JSON.stringify(where), ...calls.map((call) => call.upstream)];
  const names = texts.flatMap((text = "") => [...text.matchAll(new RegExp(NAME_IN_BRACES, "g"))]);
  return new Set(names.map(([, name = ""]) => keysOfName(name)[0] ?? ""));
}

/** Collects the names of a route, and reports a name with two values. */
export function collectNames(
  definition: RouteDefinition,
  { parameters, body, calls }: NamedParts,
  { dialect, query }: NamesContext,
  location: SourceLocation,
): UpstreamNames {
  const used = namesInBraces(definition, calls);
  const ofHead = [
    ...parameters,
    ...queryPathNames(definition, query, used),
    ...headerPathNames(definition.headers, dialect, used),
    ...Object.keys(definition.values ?? {}),
  ];
  const ofBulk = definition.bulk ? [definition.bulk.parameter] : [];
  const ofUpstream = [...ofHead, ...ofBulk, ...(body?.toPath.keys() ?? [])];
  for (const name of ofUpstream.filter((each, index) => ofUpstream.indexOf(each) < index))
    if (!ofBulk.includes(name))
      location.report(`{${name}} of the upstream's path has two values: one of them needs another name`);
  const ofCallsBefore = calls.flatMap(({ at, name }) => (at === "before" && name !== undefined ? name : []));
  return { used, ofHead, ofUpstream, ofCallsBefore, all: [...ofUpstream, ...ofCallsBefore] };
}
