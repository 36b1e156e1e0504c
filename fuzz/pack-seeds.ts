/** Requests to a pack with the responses of its upstream, as text: those of its golden cases, and one of each route. */
import { onePage } from "../src/pack/lists/envelope.ts";
import { fillShape } from "../src/pack/values/shape.ts";
import { compileSetter } from "../src/pack/values/member-paths.ts";
import type { Route } from "../src/pack/routes/route.ts";
import type { Pack } from "../src/pack/load/pack.ts";
import type { JsonObject } from "../src/pack/translation-context.ts";
import { readExamples, splitCall } from "../src/authoring/examples/example.ts";
import { sample, valuesOf } from "../src/authoring/laws/generate-values.ts";
import { tableValues } from "../src/authoring/laws/filter-law.ts";

/** A request or a response: the text of its first line, its headers and its body. */
export interface Message {
  readonly start: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const SEPARATOR = "\n--\n";
const HEADER = /^([A-Za-z][\w-]*): ?(.*)$/;

/** Characters that Node rejects in a header before the gateway sees it. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/g;

/** Parses an input: a request, and the responses of the upstream in order. Every text is one. */
export function parseInput(input: string): { request: Message; responses: readonly Message[] } {
  const [request, ...responses] = input.split(SEPARATOR).map((text): Message => {
    const [start = "", ...lines] = text.split("\n");
    const headers: Record<string, string> = {};
    let at = 0;
    for (; at < lines.length; at += 1) {
      const [, name, value = ""] = HEADER.exec(lines[at] ?? "") ?? [];
      if (name === undefined) break;
      headers[name.toLowerCase()] = value.replace(NOT_IN_HEADERS, "").trim();
    }
    return { start, headers, body: lines.slice(at).join("\n") };
  });
  return { request: request ?? { start: "", headers: {}, body: "" }, responses };
}

function print(start: string, body: unknown, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const text = body === undefined ? [] : [typeof body === "string" ? body : JSON.stringify(body)];
  return [start, ...lines, ...text].join("\n");
}

/** The golden cases of a pack. */
const exampleSeeds = (folder: string, { dialect }: Pack): string[] =>
  readExamples(folder, []).examples.map(({ definition: { request, headers, body, file, upstream } }) => {
    const { method, path } = splitCall(request, dialect.client.base_path);
    const type = file === undefined ? {} : { "Content-Type": file };
    const responses = upstream.map(({ response }) =>
      print(String(response.status), response.body, response.headers),
    );
    return [print(`${method} ${path}`, body, { ...headers, ...type }), ...responses].join(SEPARATOR);
  });

/** An object of the upstream, with a value in each field of a resource. */
function upstreamObject({ resource }: Route, { dialect }: Pack): JsonObject {
  const object: JsonObject = {};
  for (const { upstream, values, format } of resource.fields.values()) {
    if (upstream === undefined) continue;
    const [[value] = [format === "date-time" ? "2026-01-02T03:04:05" : 1]] = tableValues(
      values,
      dialect.values,
    );
    compileSetter(upstream)(object, value);
  }
  return object;
}

/** The parameters and filters that a route takes, each with a value. */
const queriesOf = ({ query, queryFilter, response }: Route, { paging }: Pack): string[] => [
  ...query.parameters.map(({ name }) => `${name}=1`),
  ...(response === "list" ? paging.clientNames.map((name) => `${name}=1`) : []),
  ...[...(queryFilter?.parameters.keys() ?? []), ...(queryFilter?.others ?? [])].map((name) => `${name}=a`),
];

/** A request of each route with the response that it expects, and one for each of its parameters. */
function routeSeeds(pack: Pack): string[] {
  const { client, upstream } = pack.dialect;
  return pack.routes.flatMap((route) => {
    const [method = "", path = ""] = route.name.split(" ");
    const target = `${method} ${client.base_path}${path.replaceAll(/:\w+|\{\w+\}/g, "1")}`;
    const object = upstreamObject(route, pack);
    const shape = upstream.responses.object ?? "$object";
    const response =
      route.response === "list"
        ? onePage(pack.lists.upstream, [object, object])
        : fillShape(shape, { object, name: route.resource.upstreamName });
    const values = route.body && valuesOf(route.body.schema);
    const [body] = values ? sample(values, { seed: 1, runs: 1 }) : [route.body && {}];
    const request = (query: string): string => print(target + query, body);
    return ["", ...queriesOf(route, pack).map((query) => `?${query}`)].map((query) =>
      [request(query), print("200", response)].join(SEPARATOR),
    );
  });
}

/** Texts that mutations would seldom produce: names of the pack, and statuses. */
export function dictionaryOf({ routes, dialect, resources }: Pack): string[] {
  const names = routes.flatMap(({ query, queryFilter, headers }) => [
    ...query.parameters.map(({ name }) => `&${name}=`),
    ...[...(queryFilter?.parameters.keys() ?? [])].map((name) => `&${name}=`),
    ...Object.keys(headers?.definition.request ?? {}).map((name) => `\n${name}: `),
  ]);
  const members = [...resources.values()].flatMap(({ members: rules }) =>
    [...rules].flatMap(([name, { upstream }]) => [`"${name}":`, `"${upstream}":`]),
  );
  const { filters, version, always_ok: alwaysOk } = dialect.client;
  const headers = [filters?.header, version?.header, alwaysOk?.request_header, "Accept", "Content-Type"];
  const statuses = [200, 201, 204, 302, 304, 400, 404, 409, 422, 429, 500, 503];
  return [
    ...new Set([...names, ...members]),
    ...headers.flatMap((name) => (name === undefined ? [] : [`\n${name}: `])),
    ...statuses.map((status) => `${SEPARATOR}${status}\n`),
    "null",
    "[]",
    "{}",
    '"__proto__":',
    "%00",
    "%2F",
    "../",
    "application/json",
    "\nLocation: /",
  ];
}

/** The inputs to start with. @param folder of the pack */
export const packSeeds = (folder: string, pack: Pack): string[] => [
  ...exampleSeeds(folder, pack),
  ...routeSeeds(pack),
];
