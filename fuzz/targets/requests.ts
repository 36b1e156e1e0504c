/**
 * Any request to any pack (`MAPPINGS_DIR`), and any responses of its upstream: the client gets a response in its own
 * envelope, and the record has no token.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { AuditRecord } from "../../src/audit/record/record.ts";
import { addQuery } from "../../src/pack/calls/endpoint.ts";
import { loadPack } from "../../src/pack/load/load-pack.ts";
import { createRecord } from "../../src/gateway/record/create-record.ts";
import { createRecordOptions } from "../../src/gateway/record/record-options.ts";
import { translatedExchange } from "../../src/gateway/record/recorded-exchange.ts";
import { createDryRun, type DryRunResponse } from "../../src/compare/dry-run/dry-run.ts";
import { describePack } from "../../src/pack/openapi/document.ts";
import { dictionaryOf, packSeeds, parseInput, type Message } from "../pack-seeds.ts";
import { pretendedV4 } from "../pretended-v4.ts";
import { hold, type Target } from "../target.ts";

type Json = Record<string, unknown>;

const folder = process.env["MAPPINGS_DIR"] ?? "mappings";
const pack = loadPack(folder);
const { client } = pack.dialect;
const statusHeader = client.always_ok?.response_header.toLowerCase() ?? "";

// Its text is as it is in every place, so that no encoding of it is in a record.
const TOKEN = "planted-token-0123456789";
const token = [TOKEN, `planted:${TOKEN}`].find((text) => pack.credentials.client?.accepts(text)) ?? "";
const sent = token === "" ? undefined : pack.credentials.client?.write(token);

/** The description of what clients get. Objects have what the upstream sends, which may be invalid: they have any members. */
const document = describePack(pack, "1") as { components: { schemas: Json; responses: Json }; paths: Json };
for (const name of pack.resources.keys()) document.components.schemas[name] = { type: "object" };
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).addSchema({
  $id: "api",
  ...document,
});
const validators = new Map<string, ValidateFunction>();

/**
 * Why a value does not have the schema at a pointer into the description; empty if it does. Clients get all items of an
 * upstream that sends more than it was asked for.
 */
function problemsOf(keys: readonly string[], value: unknown): string {
  const pointer = keys.map((key) => encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1")));
  const $ref = `api#/${pointer.join("/")}`;
  const validate = validators.get($ref) ?? ajv.compile({ $ref });
  validators.set($ref, validate);
  validate(value);
  const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== "maxItems");
  return errors.length === 0 ? "" : ajv.errorsText(errors);
}

let responses: readonly Message[] = [];
let calls = 0;
let record: AuditRecord | undefined;
const options = createRecordOptions(pack, { AUDIT: "full", AUDIT_BODY_LIMIT: 16_384 });
const upstream = pretendedV4(pack, () => {
  // What a client polls for stays as it is.
  const response = responses[Math.min(calls, responses.length - 1)];
  calls += 1;
  if (!response) return undefined;
  const status = Number(/^[2-5]\d\d/.exec(response.start)?.[0] ?? 200);
  return { status, headers: response.headers, bytes: Buffer.from(response.body), ms: 0 };
});
const pipeline = createDryRun(pack, upstream, {
  record: (request, outcome, context) => {
    record = createRecord(translatedExchange(request, outcome, context), options);
  },
});
await pipeline.catalogs.refresh();

/** Characters that Node rejects in a request target before the gateway sees it. */
const targetOf = (text: string): string =>
  text.replace(/[^\x21-\x7e]/g, (character) => encodeURIComponent(character.toWellFormed()));

const valueAt = (path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Json | undefined)?.[key], document);

/** Where the description has a status, or all other statuses; undefined where it only refers to those of all routes. */
function placeOf(responses: readonly string[], status: number): string[] | undefined {
  const all = valueAt(responses) as Json | undefined;
  const key = [String(status), "default"].find((each) => Object.hasOwn(all ?? {}, each));
  const found = key === undefined ? undefined : (all?.[key] as Json | undefined);
  return key === undefined || found?.["$ref"] !== undefined ? undefined : [...responses, key];
}

/** Holds that a response is in the client's envelope. */
function checkEnvelope({ response, context }: DryRunResponse): void {
  const { status: shown, headers, body, file } = response;
  const status = Number(headers[statusHeader] ?? shown);
  for (const [name, value] of Object.entries(headers))
    hold(`the header ${name} can be sent`, /^[\t\x20-\x7e\x80-\xff]*$/.test(value));
  const isUpstreams = context.upstream?.calls.some((call) => (call.status ?? 0) >= 500) ?? false;
  // A pack may define such statuses for its own checks.
  const isDeliberate = context.match?.route.ownStatuses.includes(status) ?? false;
  const isExplained = isUpstreams || isDeliberate || context.warnings.length > 0;
  hold("a failure has a reason in the record", status < 500 || isExplained);
  // A script is described with its parameter.
  if (file || headers["content-type"]?.startsWith("text/javascript")) return;
  const route = context.match?.route.name;
  const [method = "", path = ""] = (route ?? "").split(" ");
  const ofRoute = ["paths", path.replaceAll(/\/:(\w+)/g, "/{$1}"), method.toLowerCase(), "responses"];
  const place = placeOf(ofRoute, status) ?? placeOf(["components", "responses"], status) ?? ofRoute;
  const described = valueAt(place) as { readonly content?: Json } | undefined;
  hold(`the description has ${status} of ${route}`, described !== undefined);
  const sentType = headers["content-type"]?.split(";")[0];
  const type = Object.keys(described?.content ?? {}).find((each) => each.split(";")[0] === sentType);
  if (type === undefined || body === "")
    return hold("a response has a body", type === undefined && body === "");
  if (!type.includes("json")) return;
  const problems = problemsOf([...place, "content", type, "schema"], JSON.parse(body));
  hold(`the response is described: ${status} of ${route}: ${problems}`, problems === "");
}

export const target: Target = {
  name: "requests",
  subject: "A request and the responses of the upstream",
  covers: ["/src/pack/", "/src/gateway/pipeline/", "/src/gateway/responses/", "/src/audit/redact/"],
  longest: 10_000,
  seeds: packSeeds(folder, pack),
  dictionary: [...dictionaryOf(pack), token],
  async run(input) {
    const { request, responses: given } = parseInput(input);
    const [method = "", path = "/"] = request.start.split(" ");
    const [before = ""] = path.split("?");
    const segments = before.split("/").filter(Boolean).slice(pack.prefix.length);
    // A route that polls takes seconds.
    if (pack.match(method, segments)?.routes.some(({ calls }) => calls.some(({ repeats }) => repeats)))
      return;
    responses = given;
    calls = 0;
    record = undefined;
    const { authorization: _, ...headers } = request.headers;
    const type = request.headers["content-type"];
    const isFile = type !== undefined && !pack.mediaTypes.names.includes(type) && pack.takesFiles.has(method);
    const result = await pipeline.send({
      method: /^[A-Z]+$/.test(method) ? method : "GET",
      path: addQuery(targetOf(path.startsWith("/") ? path : `/${path}`), sent?.query ?? ""),
      headers: { ...headers, ...sent?.headers },
      ...(isFile ? { file: type } : request.body !== "" && { body: Buffer.from(request.body) }),
    });
    checkEnvelope(result);
    hold("a request has a record", record !== undefined);
    hold("a token is in no part of the record", !JSON.stringify(record).includes(TOKEN));
  },
};
