import { classOf, fieldTexts, type FieldRule, type Pack, type Route } from "../../pack/index.ts";
import { toLine } from "../../compare/index.ts";
import { capitalize, type FieldChange, type ObjectChanges, type ValuePair } from "./model.ts";

/** Whether clients read a value in responses, or write it in bodies and filters. */
type Direction = "read" | "write";

interface ChangeContext {
  readonly pack: Pack;
  readonly direction: Direction;
  /** The v4 calls for fields, by their names in expressions. */
  readonly relatedCalls: ReadonlyMap<string, string>;
}

/** Returns the client's name for the start of a sentence. */
const clientOf = ({ dialect }: Pack): string => capitalize(dialect.client.name);

const toText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
/** Formats code in a sentence. */
const code = (text: string): string => `\`${text}\``;
const literal = (value: unknown): string => code(JSON.stringify(value));

/** Returns the values of a table that differ; empty for a kind without a table. */
function findTablePairs(kind: string, { pack, direction }: ChangeContext): ValuePair[] {
  const { read, write } = pack.dialect.values[kind] ?? {};
  const writeTable = direction === "write" && typeof write === "object" ? write : undefined;
  if (writeTable) return createPairs(writeTable.map(([alpha, v4]) => [v4, alpha]));
  return typeof read === "object" ? createPairs(read) : [];
}

const createPairs = (entries: readonly (readonly [unknown, unknown])[]): ValuePair[] =>
  entries
    .map(([v4, alpha]) => ({ alpha: toText(alpha), v4: toText(v4) }))
    .filter(({ alpha, v4 }) => alpha !== v4);

/** Returns the ids of a catalog that differ. */
function findCatalogPairs(name: string, { pack }: ChangeContext): ValuePair[] {
  const catalog = pack.resources.get(name)?.catalog;
  return createPairs((catalog?.fixedIds ?? []).map((id) => [id, catalog?.alphaId(id) ?? id]));
}

/** Describes alpha's value for v4 values that the table does not contain. */
function describeOtherValues(kind: string, { pack, direction }: ChangeContext): string[] {
  const rest = pack.dialect.values[kind]?.otherwise;
  return rest === undefined || direction === "write"
    ? []
    : [`${clientOf(pack)} showed all other values as ${literal(rest)}.`];
}

function findRelatedCalls({ read = "" }: FieldRule, { relatedCalls }: ChangeContext): string[] {
  const calls = [...read.matchAll(/\$calls\.(\w+)/g)].flatMap(
    ([, name = ""]) => relatedCalls.get(name) ?? [],
  );
  return [...new Set(calls)];
}

function describeCatalog(catalog: string, { pack, direction }: ChangeContext): string {
  const { client, upstream } = pack.dialect;
  const [call] = pack.resources.get(catalog)?.catalog?.calls ?? [];
  const list = call ? ` ${code(`GET ${upstream.base_path}${call.path}`)} lists them.` : "";
  return direction === "write"
    ? `The id of a ${catalog} in ${upstream.name}.${list}`
    : `${capitalize(upstream.name)} returns only the id; ${client.name} returned the whole ${catalog}.${list}`;
}

function describeChange(name: string, rule: FieldRule, context: ChangeContext): string[] {
  const { pack, direction } = context;
  const { client, upstream } = pack.dialect;
  const [clientName, upstreamName] = [client.name, upstream.name];
  const calls = findRelatedCalls(rule, context);
  const { upstream: v4, values: as, catalog, default: or, const: constant } = rule;
  if (constant !== undefined)
    return [
      `${capitalize(clientName)} always returned ${literal(constant)}${rule.loss === undefined ? `; ${upstreamName} does not have the field` : `: ${rule.loss}`}.`,
    ];
  const texts: string[] = [];
  if (calls.length > 0)
    texts.push(`${capitalize(upstreamName)} returns it in another call: ${calls.map(code).join(", ")}.`);
  else if (v4 === undefined)
    texts.push(
      direction === "read"
        ? `${capitalize(upstreamName)} does not have the field; ${clientName} computed it.`
        : `${capitalize(upstreamName)} does not have the member; the gateway did not send it.`,
    );
  if (catalog !== undefined) texts.push(describeCatalog(catalog, context));
  if (as !== undefined) texts.push(describeValues(as, context), ...describeOtherValues(as, context));
  if (direction === "read") {
    texts.push(...fieldTexts(rule).flatMap(({ change }) => change?.(clientName) ?? []));
    if (or !== undefined && or !== null)
      texts.push(`Can be null or missing; ${clientName} returned ${literal(or)}.`);
  }
  const computed = direction === "read" ? rule.read : rule.write;
  if (texts.length === 0 && computed !== undefined)
    return [
      direction === "read"
        ? `${capitalize(clientName)} computed its value from ${upstreamName}'s.`
        : `The gateway computed ${upstreamName}'s value.`,
    ];
  if (texts.length > 0 || v4 === undefined || v4 === name) return texts;
  return [pack.resources.has(rule.object ?? "") ? `Renamed; an object (${rule.object}).` : "Renamed."];
}

function describeValues(kind: string, context: ChangeContext): string {
  if (findTablePairs(kind, context).length > 0) return "Some values have other names.";
  return typeof context.pack.dialect.values[kind]?.[context.direction] === "string"
    ? "The value has another format."
    : `${clientOf(context.pack)} showed the values that it knew.`;
}

function findFormula(rule: FieldRule, { pack, direction }: ChangeContext): string | null {
  const expression = direction === "read" ? rule.read : rule.write;
  const kind = pack.dialect.values[rule.values ?? ""]?.[direction];
  const formula = expression ?? (typeof kind === "string" ? kind : undefined);
  return formula === undefined ? null : toLine(formula);
}

/** Describes how a field changes in v4; undefined if it is the same. */
export function describeField(
  name: string,
  rule: FieldRule,
  context: ChangeContext,
): FieldChange | undefined {
  const change = describeChange(name, rule, context).join(" ");
  const loss = context.direction === "read" ? (rule.loss ?? null) : null;
  const formula = findFormula(rule, context);
  if (change === "" && loss === null && formula === null) return undefined;
  const { values: as, catalog, write } = rule;
  const isTranslated = [as, catalog, write].some((key) => key !== undefined);
  const written = rule.upstream === undefined ? "missing" : isTranslated ? "value" : undefined;
  return {
    field: name,
    v4: rule.upstream ?? null,
    class: (context.direction === "write" ? written : undefined) ?? classOf(name, rule),
    change,
    values: [
      ...(as === undefined ? [] : findTablePairs(as, context)),
      ...(catalog === undefined ? [] : findCatalogPairs(catalog, context)),
    ],
    formula,
    loss,
  };
}

/** Adds the names of nested objects. Each name occurs once. */
function withNestedObjects(names: readonly string[], pack: Pack): string[] {
  const found = new Set<string>();
  const add = (name: string): void => {
    const resource = pack.resources.get(name);
    if (!resource || found.has(name)) return;
    found.add(name);
    for (const { object } of resource.fields.values()) if (object !== undefined) add(object);
  };
  names.forEach(add);
  return [...found];
}

/** Returns the v4 calls of routes for fields, by their names. */
const createRelatedCalls = (routes: readonly Route[], { dialect }: Pack): Map<string, string> =>
  new Map(
    routes.flatMap((route) =>
      route.calls
        .filter(({ use }) => use === "fields")
        .map(({ name, endpoint }) => [
          name,
          `${endpoint.method} ${dialect.upstream.base_path}${endpoint.template}`,
        ]),
    ),
  );

/** Describes the objects in the responses of routes. Objects without a change are omitted. */
export function describeObjects(routes: readonly Route[], pack: Pack): ObjectChanges[] {
  const routesWithObjects = routes.filter(
    ({ response, source }) => ["list", "object"].includes(response) && !("error" in source),
  );
  // A list makes no calls for the fields of its objects, but the route of a single object does.
  const siblings = pack.routes.filter(({ object }) =>
    routesWithObjects.some((route) => route.object === object),
  );
  const relatedCalls = createRelatedCalls(siblings, pack);
  const names = routesWithObjects.flatMap(({ responseObjects }) => responseObjects);
  return withNestedObjects(names, pack).flatMap((object) => {
    const all = [...(pack.resources.get(object)?.fields ?? [])];
    const fields = all.flatMap(
      ([name, rule]) => describeField(name, rule, { pack, direction: "read", relatedCalls }) ?? [],
    );
    return fields.length === 0 ? [] : [{ object, same: all.length - fields.length, fields }];
  });
}
