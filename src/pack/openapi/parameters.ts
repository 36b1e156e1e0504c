/** The parameters of an operation: in its path, its query and its headers. */
import { needsOrder, type Condition, type TestOperator } from "../filters/condition.ts";
import type { Scalar } from "../values/value-kind.ts";
import { spellingsOf } from "../filters/filter-definition.ts";
import type { QueryField, QueryFilter } from "../filters/query-filter.ts";
import { canTest } from "../filters/translate.ts";
import type { Route } from "../routes/route.ts";
import type { Pack } from "../load/pack.ts";
import type { ParameterType } from "../paths/router.ts";
import { filterRuleOf } from "../fields/keys/filters.ts";
import { NO_CATALOGS } from "../translation-context.ts";
import type { Json } from "./schemas.ts";

const TEXT: Json = { type: "string" };

const PARAMETER_SCHEMAS: Readonly<Record<ParameterType, Json>> = {
  integer: { type: "integer", minimum: 0 },
  text: { ...TEXT, minLength: 1 },
  path: { ...TEXT, minLength: 1, description: "Can have slashes, escaped or not." },
  ip: {
    anyOf: [
      { ...TEXT, format: "ipv4" },
      { ...TEXT, format: "ipv6" },
    ],
  },
  ip4: { ...TEXT, format: "ipv4" },
  ip6: { ...TEXT, format: "ipv6" },
};

const inQuery = (name: string, schema: Json, others: Json = {}): Json => ({
  name,
  in: "query",
  ...others,
  schema,
});

const inHeader = (name: string, schema: Json, required: boolean | undefined): Json => ({
  name,
  in: "header",
  ...(required && { required }),
  schema,
});

const defaultOf = (standard: unknown): Json => (standard === undefined ? {} : { default: standard });

/** Describes the parameters that the pack names, except for rejected ones. */
function describeQuery({ query }: Route): Json[] {
  const accepted = query.parameters.filter(({ definition }) => definition.reject === undefined);
  return accepted.map(({ name, definition }) => {
    const { message: _message, ...schema } = definition.schema ?? {};
    const { multiple, default: standard, required } = definition;
    const values = multiple ? { type: "array", items: schema } : schema;
    return inQuery(
      name,
      { ...values, ...defaultOf(standard) },
      { ...(required && { required }), ...(multiple && { explode: multiple === "repeat" }) },
    );
  });
}

/** Returns the schema of a value that a field is compared with, including the value that means that there is no filter. */
function describeFilterValue(
  type: QueryField["type"],
  values: readonly Scalar[] | undefined,
  all: string | undefined,
): Json {
  const schema = values ? { enum: all === undefined ? values : [...values, all] } : { type };
  return all === undefined || values || type === "string" ? schema : { anyOf: [schema, { const: all }] };
}

/** Returns the values in the default filter of a field. */
const defaultValues = (condition: Condition | undefined): unknown[] => {
  if (condition?.kind !== "field") return condition?.members.flat().flatMap(defaultValues) ?? [];
  return condition.tests.map(({ value }) => value);
};

/** Describes how a list can be filtered, sorted and searched: by the gateway, or by the upstream. */
function describeAbilities(route: Route, { filterWriter }: Pack) {
  const rows = route.selectFields(NO_CATALOGS);
  const fields = route.filterFields(NO_CATALOGS);
  const isWhole = route.kind === "catalog" || route.kind === "aggregated";
  /** Whether values are compared by their order: date-times and numbers. */
  const isOrdered = (name: string): boolean => {
    const type = route.resource.queryFields.get(name)?.type ?? "";
    return (isWhole ? rows : fields).get(name)?.dateTime === true || ["number", "integer"].includes(type);
  };
  const takes = (name: string, operator: TestOperator): boolean => {
    if (isWhole) return !needsOrder(operator) || isOrdered(name);
    const field = fields.get(name);
    if (!field || !canTest(field, operator)) return false;
    if (operator !== "eq" && filterWriter.key(operator) === undefined) return false;
    return !needsOrder(operator) || field.tests === "order" || isOrdered(name);
  };
  const sorts = [...fields].some(
    ([field, { ordered }]) => ordered !== false && filterWriter.order([{ field }]) !== undefined,
  );
  return {
    takes,
    /** Whether a list can be filtered by this value of a table. */
    takesValue: (name: string, value: Scalar) =>
      isWhole || fields.get(name)?.translate?.(value)?.length !== 0,
    sorts: isWhole ? rows.size > 0 : sorts,
    searches: !isWhole && filterWriter.key("search") !== undefined,
  };
}

/** The parameters that filter, sort and search a list. */
function describeQueryFilter(filter: QueryFilter, route: Route, pack: Pack): Json[] {
  const { filterDefaults, resource } = route;
  const { filters } = pack.dialect.client;
  const { takes, takesValue, sorts, searches } = describeAbilities(route, pack);
  const [search] = spellingsOf(filters?.operators.search);
  const others = filter.others.filter((name) => (name === search ? searches : sorts));
  const ofFields = [...filter.parameters].flatMap(([name, { field, operator }]): Json[] => {
    if (operator !== "in" && !takes(field, operator)) return [];
    const isChoice = operator === "in";
    const isEquality = operator === "eq" || isChoice;
    const { all } = filterRuleOf(resource.members.get(field) ?? {}) ?? {};
    const { type = "string", values } = resource.queryFields.get(field) ?? {};
    const taken = values?.filter((value) => takesValue(field, value));
    const one =
      operator === "contains" ? TEXT : describeFilterValue(type, taken, isEquality ? all : undefined);
    const standard = isEquality ? defaultValues(filterDefaults?.conditions.get(field)) : [];
    const schema = {
      ...(isChoice ? { type: "array", items: one } : one),
      ...(standard.length > 0 && { default: isChoice ? standard : standard[0] }),
    };
    return [
      inQuery(name, schema, {
        description: isEquality ? `Value of ${field}.` : `Operator ${operator} on ${field}.`,
        ...(isChoice && { explode: filters?.in?.multiple === "repeat" }),
      }),
    ];
  });
  return [...ofFields, ...others.map((name) => inQuery(name, TEXT))];
}

/** Describes the header that contains the filter of a list. */
function describeHeaderFilter(route: Route, { dialect: { client } }: Pack): Json[] {
  const { header, operators = {} } = client.filters ?? {};
  if (header === undefined) return [];
  const fieldsOf = "catalog" in route.source ? route.selectFields : route.filterFields;
  const fields = [...fieldsOf(NO_CATALOGS).keys()];
  const spellings = Object.values(operators).map((each) => spellingsOf(each)[0]);
  const schema = { type: "object", properties: Object.fromEntries(fields.map((field) => [field, {}])) };
  return [
    {
      name: header,
      in: "header",
      description: `Conditions on ${fields.join(", ") || "no field"}; operators ${spellings.join(", ")}.`,
      content: { "application/json": { schema } },
    },
  ];
}

/** Describes the headers of requests, and the version. OpenAPI does not list `Accept`. */
function describeRequestHeaders({ headers }: Route, { version }: Pack["dialect"]["client"]): Json[] {
  const passed = Object.entries(headers?.definition.request ?? {}).map(([name, rule]) =>
    inHeader(name, { ...TEXT, ...defaultOf(rule.default) }, rule.required),
  );
  if (version?.header === undefined) return passed;
  return [...passed, inHeader(version.header, { const: version.value }, version.required)];
}

/** Describes the parameters by which a client requests a different form of the response. */
function describeForms({ name }: Route, { always_ok: ok, callback }: Pack["dialect"]["client"]): Json[] {
  const describe = (parameter: string | undefined, description: string): Json[] =>
    parameter === undefined ? [] : [inQuery(parameter, TEXT, { description })];
  return [
    ...describe(ok?.parameter, "`true`: the status is 200 in all cases."),
    ...describe(
      name.startsWith("GET ") ? callback?.parameter : undefined,
      "The name of a function: the response is JavaScript that calls it with the JSON.",
    ),
  ];
}

/** Describes the parameters by which a client requests a page. */
function describePageParameters({ style, size }: Pack["paging"]): Json[] {
  if (!style) return [];
  const isCursor = style.kind === "cursor";
  const position = isCursor
    ? { ...TEXT, minLength: 1 }
    : { type: "integer", minimum: style.first, default: style.first };
  const most = size.above === "reject" && { maximum: size.maximum };
  const limit = { type: "integer", minimum: 1, ...most, default: size.default };
  return [
    inQuery(style.parameter, position),
    ...(isCursor && style.before !== undefined ? [inQuery(style.before, position)] : []),
    ...(size.parameter === undefined ? [] : [inQuery(size.parameter, limit)]),
  ];
}

/** Describes the parameters of a route. @param names the parameters in its path */
export function describeParameters(route: Route, names: readonly string[], pack: Pack): Json {
  const { client } = pack.dialect;
  const isList = route.response === "list";
  const ofPath = names.map((name) => {
    const schema = PARAMETER_SCHEMAS[route.pathParameters[name]?.type ?? "text"];
    return { name, in: "path", required: true, schema };
  });
  const ofList = [
    ...describePageParameters(route.lists.paging),
    ...(route.queryFilter ? describeQueryFilter(route.queryFilter, route, pack) : []),
    ...describeHeaderFilter(route, pack),
  ];
  const parameters = [
    ...ofPath,
    ...describeQuery(route),
    ...route.descriptions.flatMap(({ parameters: ofKey = [] }) => ofKey),
    ...describeRequestHeaders(route, client),
    ...describeForms(route, client),
    ...(isList ? ofList : []),
  ];
  return parameters.length > 0 || isList ? { parameters } : {};
}
