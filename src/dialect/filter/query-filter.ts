/** Parses the filter of a client in the query: `status=open&created[gte]=2020-01-01&sort=-created&q=text`. */
import { shortName, type Query, type ValueType } from "../query.ts";
import type { Condition, Filter, Scalar, Test } from "./condition.ts";
import { FIELD, fillName, nameIn, spellingsOf, type FilterDefinition } from "./filter-definition.ts";
import { throwFilterError } from "./filter-error.ts";
import { maxNodes } from "./parse-filter.ts";
import { createSortParameter } from "./sort-parameter.ts";

/** Returns the value of a text that a field is compared with; undefined if it is not of the field's type. */
export type ReadValue = (text: string) => Scalar | undefined;

/** A field that clients may filter by. */
export interface QueryField {
  readonly read: ReadValue;
  /** What the text must be, for the error of one that it can't read. */
  readonly expected: string;
  readonly type: ValueType;
  /** The only values, if there is a table of them. */
  readonly values?: readonly Scalar[];
}

/** What a parameter is to the filter of a list: a part of it, or one on a field that it ignores. */
export type ParameterUse = "used" | "ignored";

/** One parameter that filters by a field. */
interface FieldParameter {
  readonly field: string;
  readonly operator: Test["operator"] | "in";
}

/** Parses the filters of one list. */
export interface QueryFilter {
  /** All parameters that filter by a field, in the order of the fields. */
  readonly parameters: ReadonlyMap<string, FieldParameter>;
  /** The parameters that sort or search. */
  readonly others: readonly string[];
  /** What a parameter is to the filter; undefined if it has nothing to do with it. */
  readonly use: (parameter: string) => ParameterUse | undefined;
  /** @throws {HttpError} 400 for a filter that is ambiguous, or by an unknown field */
  readonly parse: (query: Query) => Filter;
}

const OPERATORS = ["neq", "contains", "gt", "gte", "lt", "lte"] as const;

/** All forms of parameters with the name of a field. */
const templatesOf = ({ parameter, operators, in: choice }: FilterDefinition) => [
  ...(parameter === undefined ? [] : [{ operator: "eq" as const, template: parameter }]),
  ...(choice === undefined ? [] : [{ operator: "in" as const, template: choice.parameter }]),
  ...OPERATORS.flatMap((operator) =>
    spellingsOf(operators[operator]).map((template) => ({ operator, template })),
  ),
];

/**
 * Creates the parser of a list.
 *
 * @param fields The fields that clients may filter by, by name.
 * @param otherFields Whether the list has another field of a name, so that a parameter with this name is a filter.
 */
export function createQueryFilter(
  definition: FilterDefinition,
  fields: ReadonlyMap<string, QueryField>,
  otherFields: (name: string) => boolean,
): QueryFilter {
  const { in: choice, unknown = "reject", operators } = definition;
  const templates = templatesOf(definition);
  const sort = definition.sort && createSortParameter(definition.sort);
  const [search] = spellingsOf(operators.search);
  const others = [...(sort?.names ?? []), ...(search === undefined ? [] : [search])];

  const parameters = new Map<string, FieldParameter>();
  for (const field of fields.keys()) {
    for (const { operator, template } of templates) {
      const name = fillName(template, field);
      // One parameter may have one value or several.
      if (operator === "in" || !parameters.has(name)) parameters.set(name, { field, operator });
    }
  }

  /** The field that a parameter names, although clients can't filter by it. */
  function unknownField(parameter: string): string | undefined {
    for (const { template } of templates) {
      const field = nameIn(template, parameter);
      if (field !== undefined && (template !== FIELD || otherFields(field))) return field;
    }
    return undefined;
  }

  function readValue(parameter: string, field: string, text: string): Scalar {
    const { read, expected } = fields.get(field) ?? { read: () => undefined, expected: "known" };
    return read(text) ?? throwFilterError(shortName(parameter), `must be ${expected}.`);
  }

  function readTest(
    parameter: string,
    { field, operator }: FieldParameter,
    texts: readonly string[],
  ): Condition {
    const isRepeated = operator === "in" && choice?.multiple === "repeat";
    if (texts.length > 1 && !isRepeated) throwFilterError(parameter, "is given more than once.");
    const [text = ""] = texts;
    if (operator === "in") {
      const values = isRepeated ? texts : text.split(",");
      const members = values.map((value): Condition[] => [
        { kind: "field", field, tests: [{ operator: "eq", value: readValue(parameter, field, value) }] },
      ]);
      const [first = []] = members;
      return members.length === 1 && first[0] ? first[0] : { kind: "or", members };
    }
    const value = operator === "contains" ? text : readValue(parameter, field, text);
    // Other operators take a value of any type here: it is checked where the filter is translated.
    return { kind: "field", field, tests: [{ operator, value } as Test] };
  }

  return {
    parameters,
    others,
    use(parameter) {
      if (parameters.has(parameter) || others.includes(parameter)) return "used";
      if (unknownField(parameter) === undefined) return undefined;
      return unknown === "ignore" ? "ignored" : "used";
    },
    parse(query) {
      const conditions: Condition[] = [];
      let nodes = 0;
      for (const [name, texts] of query) {
        const found = parameters.get(name);
        if (found) {
          const condition = readTest(name, found, texts);
          nodes += condition.kind === "field" ? 1 : condition.members.length;
          if (nodes > maxNodes) throwFilterError("The filter", `has more than ${maxNodes} conditions.`);
          conditions.push(condition);
        } else if (unknown === "reject" && !others.includes(name)) {
          const field = unknownField(name);
          if (field !== undefined) throwFilterError(field, "cannot be filtered by.");
        }
      }
      const order = sort?.read(query) ?? [];
      const [searched = "", ...more] = (search === undefined ? undefined : query.get(search)) ?? [];
      if (more.length > 0) throwFilterError(search ?? "", "is given more than once.");
      return {
        conditions,
        ...(order.length > 0 && { order }),
        ...(searched !== "" && { search: searched }),
      };
    },
  };
}
