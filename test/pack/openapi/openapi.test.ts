/** The description of alpha that is generated from a pack: valid, and true of every example of the pack. */

import { beforeAll, describe, expect, test } from "@jest/globals";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { onePage } from "../../../src/pack/lists/envelope.ts";
import { compileAskedForms } from "../../../src/pack/headers/asked-forms.ts";
import type { Route } from "../../../src/pack/routes/route.ts";
import type { Pack } from "../../../src/pack/load/pack.ts";
import { NO_CATALOGS } from "../../../src/pack/translation-context.ts";
import { createCatalogUpstream } from "../../../src/compare/dry-run/catalog-upstream.ts";
import { createDryRun } from "../../../src/compare/dry-run/dry-run.ts";
import { describePack } from "../../../src/pack/openapi/document.ts";
import { readExamples, type ExampleDefinition } from "../../../src/authoring/examples/example.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { PACK_FOLDERS } from "../../support/packs.ts";
import { writeSmallPack } from "../../support/small-pack.ts";
import { withPack } from "../load/pack-folder.ts";

type Json = Record<string, unknown>;
interface Operation extends Json {
  readonly operationId: string;
  readonly summary: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: Json }[];
  readonly requestBody?: {
    readonly description?: string;
    readonly content: { readonly "application/json": { readonly schema: Json } };
  };
  readonly responses: Readonly<Record<string, Json>>;
}
interface Document extends Json {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>>; readonly responses: Json };
}

const describeFolder = (folder: string, words = {}): Document =>
  describePack(loadPack(folder, words), "1") as unknown as Document;

const operation = (document: Document, name: string): Operation => {
  const [method = "", path = ""] = name.split(" ");
  const found = document.paths[path.replaceAll(/\/:(\w+)/g, "/{$1}")]?.[method.toLowerCase()];
  if (!found) throw new Error(`${name} is not described`);
  return found;
};

test("a request body has the media types, the wrapper and the lists of the pack", () => {
  const contentOf = (folder: string, name: string): Json =>
    operation(describeFolder(folder), name).requestBody?.content ?? {};
  expect(Object.keys(contentOf("examples/billing/pack", "POST /customers"))).toEqual([
    "application/json",
    "application/x-www-form-urlencoded",
  ]);
  expect(contentOf("examples/billing/pack", "POST /quotes")["application/json"]).toMatchObject({
    schema: { required: ["quote"], properties: { quote: { type: "object" } } },
  });
  expect(contentOf("examples/billing/pack", "POST /quotes/batch")["application/json"]).toMatchObject({
    schema: { type: "array", items: { type: "object" } },
  });
});

test("a request body may be null where the gateway accepts it", () => {
  const schemaOf = (folder: string, name: string): Json =>
    operation(describeFolder(folder), name).requestBody?.content["application/json"].schema ?? {};
  const NULL = { type: "null" };
  // The pack says that clients send null where they mean no body.
  expect(schemaOf("mappings", "PUT /vm/instances/:id")["anyOf"]).toContainEqual(NULL);
  expect(schemaOf("mappings", "POST /vm/instances")["anyOf"] ?? []).not.toContainEqual(NULL);
  expect(schemaOf("examples/shop/pack", "PATCH /customers/:id")).toMatchObject({ type: "object" });
});

test.each([
  ["GET /vm/instances", "List vms"],
  ["POST /vm/instances", "Create instance"],
  ["PUT /vm/instances/:id", "Update instance"],
  ["POST /vm/instances/:id/boot", "Boot (instance)"],
  ["POST /account/clients/:client/reset_secret", "Reset secret (client)"],
  ["GET /account/clients/:client/thumbnail", "Get thumbnail (client)"],
  ["POST /vm/instances/:id/disks/:did", "Send disk"],
  ["GET /account/settings", "Get settings"],
  ["POST /feedback", "Feedback"],
])("%s is summarized as %j", (name, summary) => {
  expect(operation(describeFolder("mappings"), name).summary).toBe(summary);
});

/** Whether the gateway refuses a request for a list. */
async function isRefused(folder: string, pack: Pack, { lists, list }: Route, path: string): Promise<boolean> {
  const bytes = Buffer.from(JSON.stringify(onePage(lists.envelope.upstream.list, [], list)));
  const upstream = {
    call: async () => ({ status: 200, headers: {}, bytes, ms: 0 }),
    close: () => Promise.resolve(),
  };
  const catalogUpstream = createCatalogUpstream(pack, readExamples(folder, []).catalogs);
  const dryRun = createDryRun(pack, upstream, { catalogUpstream, acceptsUnknownIds: true });
  await dryRun.catalogs.refresh();
  dryRun.catalogs.stop();
  const headers = { accept: pack.responseTypes.success };
  const { response } = await dryRun.send({
    method: "GET",
    path: pack.dialect.client.base_path + path,
    headers,
  });
  return response.status === pack.statuses.validation.query;
}

/** A value that a field may be compared with. */
function valueFor(field: string, { resource, filterFields }: Route): string {
  const { values, type = "boolean" } = resource.queryFields.get(field) ?? {};
  if (values) return String(values[0]);
  if (filterFields(NO_CATALOGS).get(field)?.dateTime === true) return "2026-01-01T00:00:00";
  // Ids of customers are written like this.
  return { string: "cus_1", integer: "1", number: "1.5", boolean: "true" }[type];
}

/** The lists of packs whose filters are in the query. */
const FILTERED_LISTS = [
  "examples/billing/pack",
  "examples/payments/pack",
  "examples/media-type-versions/pack",
].flatMap((folder) => {
  const pack = loadPack(folder);
  const routes = pack.routes.filter(({ queryFilter, name }) => queryFilter && name.startsWith("GET "));
  return routes.map((route) => ({ folder, pack, route, name: `${route.name} of ${folder}` }));
});

test.each(FILTERED_LISTS)(
  "has the filters that the gateway accepts, and no others: $name",
  async ({ folder, pack, route }) => {
    const { parameters = [] } = operation(describeFolder(folder), route.name);
    const offered = new Set(parameters.map(({ name }) => name));
    const filters = [...(route.queryFilter?.parameters ?? [])];
    const path = route.name.replace("GET ", "").replaceAll(/:\w+/g, "1");
    const accepted: string[] = [];
    for (const [name, { field }] of filters) {
      const query = new URLSearchParams({ [name]: valueFor(field, route) }).toString();
      if (!(await isRefused(folder, pack, route, `${path}?${query}`))) accepted.push(name);
    }
    expect(filters.map(([name]) => name).filter((name) => offered.has(name))).toEqual(accepted);
  },
);

test("an order and a search are offered where the upstream has them, and where something can be ordered", () => {
  const FILTERS = { parameter: "{field}", sort: { parameter: "sort" }, operators: { search: "q" } };
  const offered = (upstream: object, fields: object): string[] => {
    const folder = writeSmallPack({
      client: { filters: FILTERS },
      upstream,
      book: { fields, routes: [{ client: "GET /books", upstream: "GET /items", response: "list" }] },
    });
    const { parameters = [] } = operation(describeFolder(folder), "GET /books");
    return parameters.map(({ name }) => name);
  };
  const title = { upstream: "name", filter: true };
  expect(offered({ filters: FILTERS }, { id: "id", title })).toEqual(["title", "sort", "q"]);
  expect(offered({ filters: FILTERS }, { id: "id" })).toEqual(["q"]);
  expect(offered({ filters: { parameter: "{field}" } }, { id: "id", title })).toEqual(["title"]);
});

/** Where an error is described: in the operation, or in the component that it refers to. */
function errorPlace(
  document: ReturnType<typeof describeFolder>,
  operationPlace: readonly string[],
  status: number,
): string[] {
  const valueIn = (place: readonly string[]): unknown =>
    place.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
  const responses = valueIn([...operationPlace, "responses"]) as object;
  const place = [
    ...operationPlace,
    "responses",
    Object.hasOwn(responses, status) ? String(status) : "default",
  ];
  const reference = valueIn([...place, "$ref"]);
  return typeof reference === "string" ? reference.split("/").slice(1) : place;
}

describe.each(PACK_FOLDERS)("the description of %s", (folder) => {
  const document = describeFolder(folder);
  const pack = loadPack(folder);

  test("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document) as never);
    expect({ valid, errors }).toMatchObject({ valid: true });
    expect(validator.version).toBe("3.1");
  });

  test("has each route of the pack as an operation with its own id", () => {
    const operations = pack.routes.map(({ name }) => operation(document, name));
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(operations.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("has a summary of each operation", () => {
    for (const { name } of pack.routes)
      expect({ name, summary: operation(document, name).summary }).toEqual({
        name,
        summary: expect.stringMatching(/^[A-Z]\w* \S|^[A-Z]\w+$/),
      });
  });

  describe("matches the examples", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
    const compiled = new Map<string, ValidateFunction>();
    beforeAll(() => {
      ajv.addSchema({ $id: "alpha", ...document });
    });

    /** What the schema at a pointer into the document does not allow. */
    function findErrors(pointer: readonly string[], value: unknown): unknown[] {
      const escaped = pointer.map((key) =>
        encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1")),
      );
      const $ref = `alpha#/${escaped.join("/")}`;
      const validate = compiled.get($ref) ?? ajv.compile({ $ref });
      compiled.set($ref, validate);
      validate(value);
      return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
    }

    function routeOf({ request }: ExampleDefinition): string | undefined {
      const [method = "", path = ""] = request.split(" ");
      const segments = path.split("?")[0]?.split("/").filter(Boolean).map(decodeURIComponent) ?? [];
      return pack.match(method, segments)?.routes[0]?.name;
    }

    const formsOf = compileAskedForms(pack.dialect.client);
    function asksForForm({ request }: ExampleDefinition): boolean {
      const [method = "", path = ""] = request.split(" ");
      const forms = formsOf?.({ method, query: path.split("?")[1] ?? "", headers: {} });
      return forms !== undefined && (forms.isAlwaysOk || forms.callback !== undefined);
    }

    const { examples } = readExamples(folder, []);
    const cases = examples.flatMap(({ definition }) => {
      // A file is described by its type alone.
      if (definition.response.file !== undefined) return [];
      // So are the forms that clients ask for.
      if (asksForForm(definition)) return [];
      const route = routeOf(definition);
      return route === undefined ? [] : [[definition.title, definition, route] as const];
    });

    test.each(cases)("%s", (_title, definition, route) => {
      const [method = "", path = ""] = route.split(" ");
      const place = ["paths", path.replaceAll(/\/:(\w+)/g, "/{$1}"), method.toLowerCase()];
      const { status, body } = definition.response;
      const { error } = pack.responseTypes;
      const success = pack.route(route)?.text?.contentType ?? pack.responseTypes.success;
      const response =
        status < 400
          ? [...place, "responses", String(status), "content", success, "schema"]
          : [...errorPlace(document, place, status), "content", error, "schema"];
      expect(body === undefined ? [] : findErrors(response, body)).toEqual([]);
      const { requestBody } = operation(document, route);
      // A value that was read may be sent back unchanged: a request that breaks a rule is compared with the current value.
      const isSentBack =
        requestBody?.description !== undefined && definition.upstream[0]?.request.startsWith("GET ");
      if (definition.body === undefined || !requestBody || status >= 400 || isSentBack) return;
      // A form is a text in a golden case.
      if (typeof definition.body === "string") return;
      const [type = ""] = Object.keys(requestBody.content);
      const content = [...place, "requestBody", "content", type, "schema"];
      expect(findErrors(content, definition.body)).toEqual([]);
    });
  });
});

test("the parameters with which a client asks for another form of the response are described", () => {
  const document = describeFolder("examples/cursors/pack");
  const namesOf = (name: string) => operation(document, name).parameters?.map((each) => each.name);
  expect(namesOf("GET /receipts/:number")).toEqual(expect.arrayContaining(["suppress_status", "callback"]));
});

test("all places of credentials, and the parameter with which clients choose members, are described", () => {
  const document = describeFolder("examples/json-api/pack");
  const { security, parameters } = operation(document, "GET /people/:id");
  expect(security).toEqual([{ token: [] }, { token_2: [] }, { token_3: [] }]);
  expect(document.components).toMatchObject({
    securitySchemes: {
      token: { type: "apiKey", in: "header", name: "Authorization" },
      token_2: { type: "http", scheme: "basic" },
      token_3: { type: "apiKey", in: "cookie", name: "session" },
    },
  });
  expect(parameters).toContainEqual(
    expect.objectContaining({
      name: "fields[person]",
      explode: false,
      description: expect.stringContaining("Always there: id."),
    }),
  );
});

test.each([
  ["each status of the table", { 409: 409, "4XX": 400, default: 500 }, "409"],
  ["all others, where no key is about those of a failure", { "4XX": 400 }, "default"],
  ["all others, where no key is about those of a client", { "5XX": 500 }, "default"],
])("the errors of an operation have %s", (_what, statuses, key) => {
  const folder = writeSmallPack({ pack: { errors: { statuses } } });
  expect(Object.keys(operation(describeFolder(folder), "GET /books/:id").responses)).toContain(key);
});

describe("the description has", () => {
  const document = describeFolder("mappings");

  test("scopes, the v4 call and the losses of an operation", () => {
    const read = operation(document, "GET /vm/instances/:id");
    expect(read.security).toEqual([{ token: ["vms:view"] }]);
    expect(read["x-v4-equivalent"]).toBe("GET /v4/vm/instances/{id}");
    expect(read["x-loss"]).toContain("total_transfer: a part of a GB; 0 in lists");
    expect(operation(document, "GET /datacenters").security).toEqual([{}]);
    expect(operation(document, "POST /feedback")["x-v4-equivalent"]).toBeNull();
    expect(operation(document, "POST /feedback").responses).not.toHaveProperty("200");
  });

  test("two routes of one path are one operation with the scopes of both", () => {
    const act = operation(document, "POST /vm/instances/:id/disks/:did");
    expect(act.security).toEqual([{ token: ["vms:modify"] }, { token: ["vms:create"] }]);
    expect(act["x-v4-equivalent"]).toHaveLength(2);
  });

  test("parameters have types", () => {
    const list = operation(document, "GET /vm/instances/:id/disks").parameters ?? [];
    expect(list.map(({ name, in: place }) => `${place} ${name}`)).toEqual([
      "path id",
      "query page",
      "header X-Filter",
    ]);
    expect(list[0]?.schema).toMatchObject({ type: "integer" });
    expect(JSON.stringify(list[2])).toContain('"label":{}');
  });

  test("a field with its type, its v4 field and its loss", () => {
    const { properties } = document.components.schemas["instance"] as { properties: Record<string, Json> };
    expect(properties["status"]).toMatchObject({
      type: "string",
      "x-v4-field": "status",
      "x-loss": expect.any(String),
    });
    expect(properties["type"]).toMatchObject({ type: "array", items: { $ref: "#/components/schemas/type" } });
    expect(properties["alerts"]).toMatchObject({
      properties: { cpu: { required: ["enabled", "threshold"] } },
    });
  });

  test("the status of the rate limit with Retry-After", () =>
    expect(document.components.responses).toMatchObject({ 420: { headers: { "Retry-After": {} } } }));

  test("the product names of the service", () => {
    const renamed = describeFolder("mappings", { vm: "acme", orch: "acmeks" });
    expect(operation(renamed, "GET /acme/instances").security).toEqual([{ token: ["acmes:view"] }]);
    expect(JSON.stringify(renamed)).not.toMatch(/(?<![a-z])vms?(?![a-z])/i);
  });

  test("a body that rejects what alpha rejects, and accepts null for missing members", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const schema = operation(document, "POST /vm/instances").requestBody?.content["application/json"].schema;
    const validate = ajv.compile(schema ?? false);
    const least = { datacenter: "newark", type: "standard-1" };
    expect(validate(least)).toBe(true);
    expect(validate({ ...least, distribution: null, stackscript: null, label: null })).toBe(true);
    expect(validate({ ...least, datacenter: { id: "newark" }, with_backups: true })).toBe(true);
    for (const wrong of [
      { type: "standard-1" },
      { ...least, datacenter: null },
      { ...least, label: "a--b" },
      { ...least, distribution: "vm/debian8" },
      { ...least, stackscript: 5 },
      { ...least, backup: 5, distribution: "vm/debian8", root_pass: "x" },
    ])
      expect([wrong, validate(wrong)]).toEqual([wrong, false]);
  });
});

describe("the description of another pair of APIs", () => {
  const payments = describeFolder("examples/payments/pack");
  const list = operation(payments, "GET /charges");
  const parameter = (of: Operation, name: string): Json | undefined =>
    of.parameters?.find((each) => each.name === name);

  test("has the names of its sides, and no other", () => {
    expect(payments).toMatchObject({
      info: { title: "Old payments API of the gateway" },
      servers: [{ url: "/v1" }],
    });
    expect(list["x-new-payments-equivalent"]).toBe("GET /api/payments");
    expect(JSON.stringify(payments)).not.toMatch(/alpha|v4/i);
  });

  test.each([
    ["examples/payments/pack", { type: "http", scheme: "basic", description: "The token is the user name." }],
    ["examples/media-type-versions/pack", { type: "apiKey", in: "query", name: "api_key" }],
    ["examples/library/pack", { type: "apiKey", in: "header", name: "Authorization" }],
  ])("has the credentials of %s", (folder, expected) =>
    expect(describeFolder(folder).components).toMatchObject({ securitySchemes: { token: expected } }),
  );

  test("has pages, filters with their types and values, and passed headers", () => {
    expect(parameter(list, "starting_after")?.["schema"]).toMatchObject({ type: "string" });
    expect(parameter(list, "limit")?.["schema"]).toEqual({
      type: "integer",
      minimum: 1,
      maximum: 50,
      default: 10,
    });
    expect(parameter(list, "status")?.["schema"]).toEqual({ enum: ["succeeded", "pending", "refunded"] });
    expect(parameter(list, "created[gte]")?.["schema"]).toEqual({ type: "integer" });
    expect(parameter(list, "Idempotency-Key")).toMatchObject({ in: "header" });
  });

  test("has default filters, values for no filter, and lists of values", () => {
    const reminders = operation(describeFolder("examples/billing/pack"), "GET /reminders");
    expect(parameter(reminders, "state")).toMatchObject({
      explode: false,
      schema: {
        type: "array",
        items: { enum: ["open", "late", "sent", "all"] },
        default: ["open", "late"],
      },
    });
    expect(parameter(reminders, "created[gte]")?.["schema"]).toEqual({ type: "integer" });
  });

  test("has no value by which the upstream can't filter", () => {
    const edit = { file: "pack.yaml", from: "S: sent } }", to: "S: sent }, otherwise: sent }" };
    const document = withPack([edit], describeFolder, "examples/billing/pack");
    expect(parameter(operation(document, "GET /reminders"), "state")?.["schema"]).toMatchObject({
      items: { enum: ["open", "late", "all"] },
    });
  });

  test("has envelopes, errors, statuses and media types", () => {
    const { responses, requestBody } = operation(payments, "POST /charges");
    expect(Object.keys(requestBody?.content ?? {})).toEqual(["application/x-www-form-urlencoded"]);
    expect(Object.keys(responses)).toContain("429");
    expect(list.responses["200"]).toMatchObject({
      headers: { "Idempotent-Replayed": {} },
      content: { "application/json": { schema: { required: ["object", "data", "has_more"] } } },
    });
    expect(payments.components.schemas["errors.envelope"]).toMatchObject({
      properties: { error: { required: ["message"], properties: { code: {}, param: {} } } },
    });
  });

  test("has the errors of routes that differ from those of the pack", () => {
    const shipping = describeFolder("examples/shipping/pack");
    expect(operation(shipping, "POST /bookings").responses["422"]).toMatchObject({
      content: {
        "application/json": {
          schema: { type: "array", items: { properties: { at: {}, is: { type: "string" } } } },
        },
      },
    });
    expect(operation(shipping, "GET /docks/:id").responses["400"]).toEqual({
      $ref: "#/components/responses/400",
    });
  });

  test("has the parameter with which clients choose members, as the route says", () => {
    const shipping = describeFolder("examples/shipping/pack");
    expect(parameter(operation(shipping, "GET /docks"), "only")).toMatchObject({ explode: true });
    expect(parameter(operation(shipping, "GET /docks"), "fields")).toBeUndefined();
    expect(parameter(operation(shipping, "GET /bookings/:id"), "fields")).toMatchObject({ explode: false });
  });

  test("has the statuses of failed checks and calls", () => {
    const shipping = describeFolder("examples/shipping/pack");
    expect(Object.keys(operation(shipping, "POST /bookings").responses)).toEqual(
      expect.arrayContaining(["409", "410", "422", "423"]),
    );
    expect(Object.keys(operation(shipping, "GET /bookings/:id").responses)).not.toContain("409");
  });

  test("has the media type of a version, and other statuses of success", () => {
    const folder = "examples/media-type-versions/pack";
    const [document, pack] = [describeFolder(folder), loadPack(folder)];
    const described = pack.routes.map(({ name, status }) => {
      const response = operation(document, name).responses[String(status)];
      return [name, status, Object.keys(response?.["content"] ?? {})];
    });
    const { success } = pack.responseTypes;
    expect(success).toMatch(/^application\/vnd\./);
    expect(described).toEqual(
      pack.routes.map(({ name, status }) => [name, status, status === 204 ? [] : [success]]),
    );
  });

  test("does not require members that are left out without a value", () => {
    const { customer } = describeFolder("examples/billing/pack").components.schemas;
    expect(customer?.["properties"]).toHaveProperty("note");
    expect(customer?.["required"]).not.toContain("note");
  });

  test("has an error for each problem, unless an entry may have no value", () => {
    const errorsOf = (folder: string): Json =>
      describeFolder(folder).components.schemas["errors.envelope"] ?? {};
    const entry = { resource: "$name", field: "$field", code: "$code" };
    const small = writeSmallPack({
      client: { responses: { error: { message: "$message", errors: [entry] } } },
      upstream: { responses: { error: { message: "$message", code: "$code" } } },
    });
    const properties = errorsOf(small)["properties"];
    expect(properties).toHaveProperty(["errors", "type"], "array");
    expect(properties).not.toHaveProperty(["errors", "minItems"]);
    expect(errorsOf("mappings")["properties"]).toHaveProperty(["errors", "minItems"], 1);
  });
});
