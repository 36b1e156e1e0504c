/** Writes filters in the form of the upstream: a JSON header, or parameters of a query. */
import { throwFilterError } from "./filter-error.ts";
import { isObject, printJson } from "../../base/index.ts";
import { formatParameter } from "../paths/query.ts";
import type { Order } from "./condition.ts";
import type { Scalar } from "../values/value-kind.ts";
import { fillName, spellingsOf, type FilterDefinition, type Operator } from "./filter-definition.ts";
import { createSortParameter, ONE_ORDER } from "./sort-parameter.ts";

/** A filter with the upstream's names, operators and values. */
export type UpstreamFilter = Readonly<Record<string, unknown>>;

/** A filter in its final form for the upstream. */
export interface SentFilter {
  /** The text of the header; undefined if nothing is sent. */
  readonly header: string | undefined;
  /** Parameters of the query; empty if nothing is sent. */
  readonly query: string;
}

/** Writes filters of one dialect. */
export interface FilterWriter {
  /** Returns the key of an operator in a filter; undefined if the dialect does not support it. */
  readonly key: (operator: Operator) => string | undefined;
  /** Whether a field can be compared with a value: a query can't contain null, and may not support equality. */
  readonly canCompare: (operator: string, value: Scalar) => boolean;
  /** Returns the part of a filter that orders a list; undefined if the dialect can't sort. */
  readonly order: (order: readonly Order[]) => UpstreamFilter | undefined;
  /** @throws {HttpError} 400 if the dialect can't combine the conditions */
  readonly write: (filter: UpstreamFilter) => SentFilter;
}

const printAscii = (value: unknown): string =>
  printJson(value).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Creates the writer of a header, whose text is printable ASCII (RFC 9110 5.5). */
function createHeaderWriter({ operators }: Pick<FilterDefinition, "operators">): FilterWriter {
  const key = (operator: Operator): string | undefined => spellingsOf(operators[operator])[0];
  const [orderBy, direction] = [key("order_by"), key("order")];
  return {
    key,
    canCompare: () => true,
    order([first, ...others]) {
      if (!first || orderBy === undefined) return undefined;
      if (others.length > 0) throwFilterError("A list", ONE_ORDER, "sort");
      const by = { [orderBy]: first.field };
      if (first.descending === undefined || (direction === undefined && !first.descending)) return by;
      return direction === undefined ? undefined : { ...by, [direction]: first.descending ? "desc" : "asc" };
    },
    write: (filter) => ({
      header: Object.keys(filter).length === 0 ? undefined : printAscii(filter),
      query: "",
    }),
  };
}

/** Keys of a filter that are not fields. No field has such a name. */
const [AND, OR, SORT, SEARCH] = ["{and}", "{or}", "{sort}", "{search}"];

function throwCombination(): never {
  throwFilterError("The filter", "has conditions that cannot be combined.");
}

/** The alternatives of a choice. Nested choices are flattened, and a group of one condition is replaced by the condition. */
const alternativesOf = (members: readonly UpstreamFilter[]): UpstreamFilter[] =>
  members.flatMap((member) => {
    const [[key, value] = [], ...others] = Object.entries(member);
    if (others.length > 0 || (key !== OR && key !== AND)) return [member];
    const inner = value as UpstreamFilter[];
    return key === OR || inner.length === 1 ? alternativesOf(inner) : [member];
  });

/** Creates the writer of a query. All parameters must hold, and each can be sent once. */
function createQueryWriter(definition: FilterDefinition): FilterWriter {
  const { parameter = "", operators, in: choice } = definition;
  const sort = definition.sort && createSortParameter(definition.sort);
  const [search = ""] = spellingsOf(operators.search);
  // The upstream would read the value as a list.
  const isListed = choice?.multiple === "comma";
  const isCommaList = isListed && choice.parameter === parameter;

  /** Returns several values of one field. Conditions on several fields, and groups, can't be alternatives. */
  function choiceText(alternatives: readonly UpstreamFilter[]): readonly [name: string, text: string] {
    const entries = alternatives.flatMap((each) => Object.entries(each));
    const [[field] = [""]] = entries;
    const isOneField =
      entries.length > 0 &&
      entries.length === alternatives.length &&
      entries.every(([name, value]) => name === field && typeof value !== "object");
    const texts = entries.map(([, value]) => String(value));
    if (!choice || !isOneField || (isListed && texts.some((text) => text.includes(",")))) throwCombination();
    const name = fillName(choice.parameter, field);
    const values = isListed ? [texts.join(",")] : texts;
    return [name, values.map((value) => formatParameter(name, value)).join("&")];
  }

  function* textsOf(conditions: UpstreamFilter): Generator<readonly [name: string, text: string]> {
    const parameterText = (name: string, value: unknown) =>
      [name, formatParameter(name, String(value))] as const;
    for (const [key, value] of Object.entries(conditions)) {
      if (key === AND) {
        for (const each of value as UpstreamFilter[]) yield* textsOf(each);
      } else if (key === OR) {
        const alternatives = alternativesOf(value as UpstreamFilter[]);
        const [only, ...others] = alternatives;
        if (only && others.length === 0) yield* textsOf(only);
        else yield choiceText(alternatives);
      } else if (key === SORT) yield [key, sort?.write(value as Order[]) ?? ""];
      else if (key === SEARCH) yield parameterText(search, value);
      else {
        const operands = isObject(value) ? value : { [parameter]: value };
        for (const [template, operand] of Object.entries(operands))
          yield parameterText(fillName(template, key), operand);
      }
    }
  }

  function parametersOf(filter: UpstreamFilter): string {
    const parameters = new Map<string, string>();
    let order = "";
    for (const [name, text] of textsOf(filter)) {
      if (name === SORT) order = text;
      else if ((parameters.get(name) ?? text) !== text) throwCombination();
      else parameters.set(name, text);
    }
    return [...parameters.values(), order].filter(Boolean).join("&");
  }

  const keys: Partial<Record<Operator, string | undefined>> = {
    and: AND,
    or: choice && OR,
    order_by: sort && SORT,
    order: undefined,
    search: search === "" ? undefined : SEARCH,
  };
  return {
    key: (operator) => (Object.hasOwn(keys, operator) ? keys[operator] : spellingsOf(operators[operator])[0]),
    canCompare: (operator, value) =>
      value !== null &&
      (operator !== "eq" || (parameter !== "" && !(isCommaList && String(value).includes(",")))),
    order: (order) => (sort ? { [SORT]: order } : undefined),
    write: (filter) => ({ header: undefined, query: parametersOf(filter) }),
  };
}

/** Creates the writer of a dialect's filters. If there is no definition, the dialect can't filter. */
export function createFilterWriter(definition: FilterDefinition | undefined): FilterWriter {
  if (!definition) return { ...createHeaderWriter({ operators: {} }), canCompare: () => false };
  return definition.header === undefined ? createQueryWriter(definition) : createHeaderWriter(definition);
}
