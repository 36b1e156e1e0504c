/** Translates addresses of the upstream in responses to the client's paths. */
import { fromJsonText } from "../../base/index.ts";
import type { ValueKind } from "../values/value-kind.ts";
import { isText } from "../paths/router.ts";
import type { Route } from "./route.ts";

/**
 * Returns the client's path for an address. Undefined if no route reads the object there.
 *
 * @param address A `Location`: a URL of any host, a path, or a path relative to that of the request.
 * @param path Path of the upstream request, after `basePath`.
 * @param basePath Path of the upstream's base URL, which addresses may start with; empty if missing.
 */
export type TranslateLocation = (address: string, path: string, basePath?: string) => string | undefined;

/** Maximum length of an address in characters. Longer addresses are not translated. */
const LONGEST_ADDRESS = 2048;

/** Returns the path of an address; undefined if the text is not an address. */
function pathOf(address: string, path: string): string | undefined {
  const base = `http://upstream.invalid${path}`;
  return address.length <= LONGEST_ADDRESS && URL.canParse(address, base)
    ? new URL(address, base).pathname
    : undefined;
}

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** Matches a parameter in a path of the client: `:id`, or `{id}`. */
const PARAMETER = /:(\w+)|\{(\w+)\}/g;

/** Translates an upstream value to the client's. Undefined if it has no translation. */
function translateValue({ read }: ReturnType<ValueKind["reader"]>, value: unknown): string | undefined {
  try {
    const text = read(JSON.stringify(value));
    const translated = text instanceof Promise ? undefined : fromJsonText(text);
    return typeof translated === "string" || typeof translated === "number" ? String(translated) : undefined;
  } catch {
    return undefined;
  }
}

/** Translates a value of an address. A field may contain it as a number, and the value kind may only accept numbers. */
const translateText = (reader: ReturnType<ValueKind["reader"]>, value: unknown): string | undefined =>
  translateValue(reader, value) ??
  (String(Number(value)) === value ? translateValue(reader, Number(value)) : undefined);

/** Compiles a route that reads an object in reverse: from an upstream path to a client path. */
function compileInverse(
  { name, source, pathParameters }: Route,
  clientPrefix: string,
  upstreamPrefix: string,
): { readonly parameters: number; readonly translate: (path: string) => string | undefined } | undefined {
  if (!("call" in source) || !name.startsWith("GET ")) return undefined;
  const [template = ""] = source.call.template.split("?");
  const names = [...template.matchAll(/\{([\w.]+)\}/g)].map(([, parameter = ""]) => parameter);
  const client = name.slice("GET ".length);
  const needed = [...client.matchAll(PARAMETER)].map(([, one, other]) => one ?? other ?? "");
  if (!needed.every((parameter) => names.includes(parameter))) return undefined;
  const kinds = needed.map((parameter) => pathParameters[parameter]?.kind);
  const readers = kinds.map((kind) => kind?.reader({}));
  // Headers are written synchronously, so an expression that may be asynchronous can't be used.
  if (readers.some((reader) => reader?.mayBeAsync)) return undefined;
  const fixed = (upstreamPrefix + template).split(/\{[\w.]+\}/).map((part) => RegExp.escape(part));
  // Behind a proxy, an upstream may have any path before its prefix. If the prefix is empty, the end of that path would
  // be unknown.
  const start = upstreamPrefix === "" ? "^" : "";
  const pattern = new RegExp(`${start}${fixed.join("([^/]+)")}/?$`);
  return {
    parameters: names.length,
    translate(path) {
      const values = pattern.exec(path)?.slice(1).map(decoded);
      if (!values?.every((value) => value !== undefined && isText(value))) return undefined;
      const texts = needed.map((parameter, index) => {
        const value = values[names.indexOf(parameter)] ?? "";
        const reader = readers[index];
        return reader ? translateText(reader, kinds[index]?.ofText.v4(value)) : value;
      });
      if (!texts.every((text) => text !== undefined && text !== "")) return undefined;
      let next = 0;
      return clientPrefix + client.replaceAll(PARAMETER, () => encodeURIComponent(texts[next++] ?? ""));
    },
  };
}

/** Creates the translator of addresses. A route with fewer parameters takes precedence: `/items/new` is not an id. */
export function createLocationTranslator(
  routes: readonly Route[],
  clientPrefix: string,
  upstreamPrefix: string,
): TranslateLocation {
  const inverses = routes
    .flatMap((route) => compileInverse(route, clientPrefix, upstreamPrefix) ?? [])
    .sort((one, other) => one.parameters - other.parameters);
  return (address, path, basePath = "") => {
    const whole = pathOf(address, basePath + path);
    if (whole === undefined) return undefined;
    const target = whole.startsWith(`${basePath}/`) ? whole.slice(basePath.length) : whole;
    for (const { translate } of inverses) {
      const found = translate(target);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}
