/** Parses the filter of a client in the query: `status=open&created[gte]=2020-01-01&sort=-created&q=text`. */
import type { Query, ValueType } from "../paths/query.ts";
import type { Condition, FieldCondition, Filter } from "./condition.ts";
import type { Scalar } from "../values/value-kind.ts";
import {
  FIELD,
  fieldTemplates,
  fillName,
  nameIn,
  otherParameters,
  spellingsOf,
  type FieldOperator,
  type FieldTemplate,
  type FilterDefinition,
} from "./filter-definition.ts";
import { forParameter, throwParameterError, throwFilterError } from "./filter-error.ts";
import { maxNodes } from "./parse-filter.ts";
import { createSortParameter, onlyValue, type SortParameter } from "./sort-parameter.ts";

/** A field that clients may filter by. */
export interface QueryField {
  /** Converts a text to the value that a field is compared with; undefined if it is not of the field's type. */
  readonly read: (text: string) => Scalar | undefined;
  /** Describes the valid texts, for an error about an invalid text. */
  readonly expected: string;
  readonly type: ValueType;
  /** The valid values, if they are in a table. */
  readonly values?: readonly Scalar[];
}

/** The role of a parameter in the filter of a list: part of the filter, or ignored because of its field. */
export type ParameterUse = "used" | "ignored";

/** One parameter that filters by a field. */
interface FieldParameter {
  readonly field: string;
  readonly operator: FieldOperator;
}

/** Parses the filters of one list. */
export class QueryFilter {
  /** All parameters that filter by a field, in the order of the fields. */
  readonly parameters: ReadonlyMap<string, FieldParameter>;
  /** The parameters that sort or search. */
  readonly others: readonly string[];
  readonly #definition: FilterDefinition;
  readonly #fields: ReadonlyMap<string, QueryField>;
  readonly #isOtherField: (name: string) => boolean;
  readonly #templates: readonly FieldTemplate[];
  readonly #sort: SortParameter | undefined;
  readonly #search: string | undefined;

  /**
   * @param fields The fields that clients may filter by, by name.
   * @param isOtherField Tells whether the list has a further field with this name, so that a parameter with this name
   *   is a filter.
   */
  constructor(
    definition: FilterDefinition,
    fields: ReadonlyMap<string, QueryField>,
    isOtherField: (name: string) => boolean,
  ) {
    this.#definition = definition;
    this.#fields = fields;
    this.#isOtherField = isOtherField;
    this.#templates = fieldTemplates(definition);
    this.#sort = definition.sort && createSortParameter(definition.sort);
    [this.#search] = spellingsOf(definition.operators.search);
    this.others = otherParameters(definition);
    const parameters = new Map<string, FieldParameter>();
    for (const field of fields.keys())
      for (const { operator, template } of this.#templates) {
        const name = fillName(template, field);
        // A parameter may accept one value or several.
        if (operator === "in" || !parameters.has(name)) parameters.set(name, { field, operator });
      }
    this.parameters = parameters;
  }

  /** Returns the role of a parameter in the filter. Undefined if it has none. */
  use(parameter: string): ParameterUse | undefined {
    if (this.parameters.has(parameter) || this.others.includes(parameter)) return "used";
    if (this.#unknownField(parameter) === undefined) return undefined;
    return this.#definition.unknown === "ignore" ? "ignored" : "used";
  }

  /** @throws {HttpError} 400 for a filter that is ambiguous, or that contains an unknown field */
  parse(query: Query): Filter {
    const conditions = this.#readConditions(query);
    const order = this.#sort?.read(query) ?? [];
    const search = this.#search === undefined ? undefined : onlyValue(query, this.#search, "filter");
    const parameters = { order: this.#definition.sort?.parameter, search: this.#search };
    return {
      conditions,
      ...(order.length > 0 && { order, parameters }),
      ...(search !== undefined && { search, parameters }),
    };
  }

  #readConditions(query: Query): Condition[] {
    const conditions: Condition[] = [];
    let nodes = 0;
    for (const [name, texts] of query) {
      const parameter = this.parameters.get(name);
      if (parameter) {
        const condition = this.#readCondition(name, parameter, texts);
        nodes += condition.kind === "field" ? 1 : condition.members.length;
        if (nodes > maxNodes) throwFilterError("The filter", `has more than ${maxNodes} conditions.`);
        conditions.push(condition);
      } else if (this.use(name) === "used" && !this.others.includes(name)) {
        const field = this.#unknownField(name) ?? name;
        forParameter(name, () => throwFilterError(field, "cannot be filtered by."));
      }
    }
    return conditions;
  }

  #readCondition(
    parameter: string,
    { field, operator }: FieldParameter,
    texts: readonly string[],
  ): Condition {
    const isRepeated = operator === "in" && this.#definition.in?.multiple === "repeat";
    if (texts.length > 1 && !isRepeated) throwParameterError(parameter, "is given more than once.", "filter");
    const [text = ""] = texts;
    const test = (is: Exclude<FieldOperator, "in">, value: Scalar): FieldCondition => ({
      kind: "field",
      field,
      tests: [{ operator: is, value }],
      parameter,
    });
    if (operator === "contains") return test(operator, text);
    // The type of the value is checked when the filter is translated.
    if (operator !== "in") return test(operator, this.#readValue(parameter, field, text));
    const values = isRepeated ? texts : text.split(",");
    const tests = values.map((value) => test("eq", this.#readValue(parameter, field, value)));
    const [first] = tests;
    return first && tests.length === 1 ? first : { kind: "or", members: tests.map((each) => [each]) };
  }

  #readValue(parameter: string, field: string, text: string): Scalar {
    const { read, expected } = this.#fields.get(field) ?? { read: () => undefined, expected: "known" };
    return read(text) ?? throwParameterError(parameter, `must be ${expected}.`, "filter");
  }

  /** Returns the field that a parameter names, if clients can't filter by it. */
  #unknownField(parameter: string): string | undefined {
    for (const { template } of this.#templates) {
      const field = nameIn(template, parameter);
      if (field !== undefined && (template !== FIELD || this.#isOtherField(field))) return field;
    }
    return undefined;
  }
}
