/** How clients write the method and the path of a request. */
import { credentialHeaders } from "../credentials/credentials.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";

/** Compiles how a request may differ: its method in a header, and slashes that count. Reports a header that means something else as well. */
export function compileClientPaths({ client }: DialectDefinition, location: SourceLocation) {
  const { method_header: header, slashes = {} } = client;
  const methodHeader = header?.toLowerCase();
  const others = [
    ...credentialHeaders(client.credentials).map((name) => ["credentials", name] as const),
    ["filters", client.filters?.header],
    ["version", client.version?.header],
    ...Object.keys(client.headers?.request ?? {}).map((name) => ["headers", name] as const),
  ] as const;
  for (const [key, name] of others)
    if (name !== undefined && name.toLowerCase() === methodHeader)
      location.at("client", "method_header").report(`this header has another meaning: see "${key}"`);
  const isExact = slashes.trailing === "exact";
  const rejectsDoubled = slashes.doubled === "reject";
  return {
    /** The header with the method that a POST stands for, in lower case; undefined without one. */
    methodHeader,
    /** Whether a path may have its doubled slashes, and be of a route by the name of the route; undefined if all may. */
    acceptsSlashes:
      isExact || rejectsDoubled
        ? (path: string, routeName: string): boolean =>
            !(rejectsDoubled && path.includes("//")) &&
            !(isExact && path.endsWith("/") !== routeName.endsWith("/"))
        : undefined,
  };
}
