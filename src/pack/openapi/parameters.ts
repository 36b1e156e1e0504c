import type { Condition, Test } from "../filters/condition.ts";
import type { Scalar } from "../values/value-kind.ts";
import { spellingsOf } from "../filters/filter-definition.ts";
import type { OperandRules } from "../filters/operand.ts";
import type { QueryField, QueryFilter } from "../filters/query-filter.ts";
import { canTest } from "../filters/translate.ts";
import type { Route } from "../routes/route.ts";
import type { Pack } from "../load/pack.ts";
import type { ParameterType } from "../paths/router.ts";
import { filterRuleOf } from "../fields/keys/filters.ts";
import { NO_CATALOGS } from "../translation-context.ts";
import type { Json } from "./schemas.ts";

const PARAMETER_SCHEMAS: Readonly<Record<ParameterType, Json>> = {
  integer: { type: "integer", minimum: 0 },
  text: { type: "string", minLength: 1 },
  path: { type: "string", minLength: 1, description: "Can have slashes, escaped or not." },
  ip: {
    anyOf: [
      { type: "string", format: "ipv4" },
      { type: "string", format: "ipv6" },
    ],
  },
  ip4: { type: "string", format: "ipv4" },
  ip6: { type: "string", format: "ipv6" },
};

/** The fields by which a list can be filtered and sorted. */
const listFilterFields = (route: Route): string[] => [
  ...("catalog" in route.source ? route.selectFields : route.filterFields)(NO_CATALOGS).keys(),
];

/** The parameters that the pack names, without rejected ones. */
function describeQuery({ query }: Route): Json[] {
  const accepted = query.parameters.filter(({ definition }) => definition.reject === undefined);
  return accepted.map(({ name, definition }) => {
    const { message: _message, ...schema } = definition.schema ?? {};
    const { multiple, default: standard, required } = definition;
    return {
      name,
      in: "query",
      ...(required && { required }),
      ...(multiple && { explode: multiple === "repeat" }),
      schema: {
        ...(multiple ? { type: "array", items: schema } : schema),
        ...(standard !== undefined && { default: standard }),
      },
    };
  });
}

/** The schema of a value that a field is compared with, and the value for no filter. */
function describeFilterValue(
  type: QueryField["type"],
  values: readonly Scalar[] | undefined,
  all: string | undefined,
): Json {
  const schema = values ? { enum: all === undefined ? values : [...values, all] } : { type };
  return all === undefined || values || type === "string" ? schema : { anyOf: [schema, { const: all }] };
}

/** The values of the default filter by a field. */
const defaultValues = (condition: Condition | undefined): unknown[] => {
  if (condition?.kind !== "field") return condition?.members.flat().flatMap(defaultValues) ?? [];
  return condition.tests.map(({ value }) => value);
};

type Operator = Test["operator"];

const UNORDERED: ReadonlySet<Operator> = new Set(["eq", "neq", "contains"]);

/** The fields by which the lists of a route can be filtered, sorted and searched. */
interface FilterPossibilities {
  takes(field: string, operator: Operator): boolean;
  /** Whether a list can be filtered by this value of a table. */
  takesValue(field: string, value: Scalar): boolean;
  readonly sorts: boolean;
  readonly searches: boolean;
}

/** Whether values are compared by their order: date-times and numbers are. */
function isOrdered(field: string, { dateTime }: OperandRules, { resource }: Route): boolean {
  const type = resource.queryFields.get(field)?.type;
  return dateTime === true || type === "number" || type === "integer";
}

/** The possibilities of a list that the gateway filters, and of one that the upstream does. */
function possibilitiesOf(route: Route, { filterWriter }: Pack): FilterPossibilities {
  if (route.kind === "catalog" || route.kind === "aggregated") {
    const fields = route.selectFields(NO_CATALOGS);
    return {
      takes: (name, operator) => UNORDERED.has(operator) || isOrdered(name, fields.get(name) ?? {}, route),
      takesValue: () => true,
      sorts: fields.size > 0,
      searches: false,
    };
  }
  const fields = route.filterFields(NO_CATALOGS);
  return {
    takes(name, operator) {
      const field = fields.get(name);
      if (!field || !canTest(field, operator)) return false;
      if (operator !== "eq" && filterWriter.key(operator) === undefined) return false;
      return UNORDERED.has(operator) || field.keepsOrder === true || isOrdered(name, field, route);
    },
    takesValue: (name, value) => fields.get(name)?.translate?.(value)?.length !== 0,
    sorts: [...fields].some(
      ([field, { ordered }]) => ordered !== false && filterWriter.order([{ field }]) !== undefined,
    ),
    searches: filterWriter.key("search") !== undefined,
  };
}

/** The parameters that filter, sort and search a list. */
function describeQueryFilter(
  { parameters, others: allOthers }: QueryFilter,
  route: Route,
  pack: Pack,
): Json[] {
  const { filterDefaults, resource } = route;
  const { client } = pack.dialect;
  const { takes, takesValue, sorts, searches } = possibilitiesOf(route, pack);
  const [search] = spellingsOf(client.filters?.operators.search);
  const offered = [...parameters].filter(
    ([, { field, operator }]) => operator === "in" || takes(field, operator),
  );
  const others = allOthers.filter((name) => (name === search ? searches : sorts));
  const filters = offered.map(([name, { field, operator }]): Json => {
    const queryField = resource.queryFields.get(field);
    const { all } = filterRuleOf(resource.members.get(field) ?? {}) ?? {};
    const isEquality = operator === "eq" || operator === "in";
    const one =
      queryField === undefined || operator === "contains"
        ? { type: "string" }
        : describeFilterValue(
            queryField.type,
            queryField.values?.filter((value) => takesValue(field, value)),
            isEquality ? all : undefined,
          );
    const values = isEquality ? defaultValues(filterDefaults?.conditions.get(field)) : [];
    const standard = values.length > 0 && { default: operator === "in" ? values : values[0] };
    return {
      name,
      in: "query",
      description: isEquality ? `Value of ${field}.` : `Operator ${operator} on ${field}.`,
      ...(operator === "in" && { explode: client.filters?.in?.multiple === "repeat" }),
      schema: { ...(operator === "in" ? { type: "array", items: one } : one), ...standard },
    };
  });
  return [...filters, ...others.map((name) => ({ name, in: "query", schema: { type: "string" } }))];
}

/** The headers that requests may have, and the version. OpenAPI does not list `Accept`. */
function describeRequestHeaders({ headers }: Route, { version }: Pack["dialect"]["client"]): Json[] {
  const passed = Object.entries(headers?.definition.request ?? {}).map(
    ([name, { required, default: standard }]): Json => ({
      name,
      in: "header",
      ...(required && { required }),
      schema: { type: "string", ...(standard !== undefined && { default: standard }) },
    }),
  );
  if (version?.header === undefined) return passed;
  const { header, value, required } = version;
  return [...passed, { name: header, in: "header", ...(required && { required }), schema: { const: value } }];
}

/** The parameters with which a client asks for another form of the response. */
function describeForms(
  { name }: Route,
  { always_ok: alwaysOk, callback }: Pack["dialect"]["client"],
): readonly Json[] {
  const inQuery = (parameter: string | undefined, description: string, schema: Json): readonly Json[] =>
    parameter === undefined ? [] : [{ name: parameter, in: "query", description, schema }];
  const isRead = name.startsWith("GET ");
  return [
    ...inQuery(alwaysOk?.parameter, "`true`: the status is 200 in all cases.", { type: "string" }),
    ...inQuery(
      isRead ? callback?.parameter : undefined,
      "The name of a function: the response is JavaScript that calls it with the JSON.",
      { type: "string" },
    ),
  ];
}

function listParameters(route: Route, names: readonly string[], pack: Pack): Json[] {
  const { dialect } = pack;
  const pathParameters = names.map((name) => ({
    name,
    in: "path",
    required: true,
    schema: PARAMETER_SCHEMAS[route.pathParameters[name]?.type ?? "text"],
  }));
  const others = [
    ...pathParameters,
    ...describeQuery(route),
    ...route.descriptions.flatMap(({ parameters = [] }) => parameters),
    ...describeRequestHeaders(route, dialect.client),
    ...describeForms(route, dialect.client),
  ];
  if (route.response !== "list") return others;
  const fields = listFilterFields(route);
  const { filters } = dialect.client;
  const operators = Object.values(filters?.operators ?? {}).map((spellings) => [spellings].flat()[0]);
  const filter = filters?.header !== undefined && {
    name: filters.header,
    in: "header",
    description: `Conditions on ${fields.join(", ") || "no field"}; operators ${operators.join(", ")}.`,
    content: {
      "application/json": {
        schema: { type: "object", properties: Object.fromEntries(fields.map((field) => [field, {}])) },
      },
    },
  };
  const inQuery = route.queryFilter ? describeQueryFilter(route.queryFilter, route, pack) : [];
  return [...others, ...describePageParameters(route.lists.paging), ...inQuery, ...(filter ? [filter] : [])];
}

/** The parameters with which a client asks for a page. */
function describePageParameters({ style, size }: Pack["paging"]): Json[] {
  if (!style) return [];
  const position =
    style.kind === "cursor"
      ? { type: "string", minLength: 1 }
      : { type: "integer", minimum: style.first, default: style.first };
  const most = size.above === "reject" && { maximum: size.maximum };
  const limit = { type: "integer", minimum: 1, ...most, default: size.default };
  return [
    { name: style.parameter, in: "query", schema: position },
    ...(style.kind === "cursor" && style.before !== undefined
      ? [{ name: style.before, in: "query", schema: position }]
      : []),
    ...(size.parameter === undefined ? [] : [{ name: size.parameter, in: "query", schema: limit }]),
  ];
}

/** Describes the parameters of a route: of its path, of its query and of its headers. */
export function describeParameters(route: Route, names: readonly string[], pack: Pack): Json {
  const parameters = listParameters(route, names, pack);
  return parameters.length > 0 || route.response === "list" ? { parameters } : {};
}
