const operators = ["and", "or", "gt", "gte", "lt", "lte", "contains", "neq", "order_by", "order"] as const;

/** The neutral name of an operator. The spellings in alpha and v4 are data of the pack. */
export type Operator = (typeof operators)[number];

/** One operator of the pack. */
export interface OperatorDefinition {
  readonly is: Operator;
  /** v4's spelling, if it differs from alpha's. */
  readonly v4?: string | undefined;
  /** Additional spellings that clients use. */
  readonly also?: readonly string[] | undefined;
}

/** The pack's `filter` block: the header's name, and the operators by alpha's documented spelling. */
export interface FilterDefinition {
  readonly header: string;
  readonly operators: Readonly<Record<string, OperatorDefinition>>;
}

/** The compiled spellings of filter operators. */
export interface Grammar {
  /** Name of the header with the filter, the same in alpha and v4. */
  readonly header: string;
  /** The common prefix of all operators. A key with this prefix is an operator, never a field. */
  readonly prefix: string;
  /** Operators by every spelling that clients use. */
  readonly operators: ReadonlyMap<string, Operator>;
  /** The documented alpha spelling, for the reasons of errors. */
  readonly alpha: Readonly<Record<Operator, string>>;
  /** The spelling in v4. */
  readonly v4: Readonly<Record<Operator, string>>;
}

/**
 * Compiles the filter grammar of a pack.
 *
 * @throws {Error} If an operator is unknown, missing or defined twice, if two operators have the same spelling, or if the
 *   spellings have no common prefix that distinguishes them from field names.
 */
export function createGrammar(definition: FilterDefinition): Grammar {
  const spellings = new Map<string, Operator>();
  const alpha: Partial<Record<Operator, string>> = {};
  const v4: Partial<Record<Operator, string>> = {};
  for (const [spelling, { is, v4: other = spelling, also = [] }] of Object.entries(definition.operators)) {
    if (!operators.includes(is))
      throw new Error(`${spelling}: "${is}" is not one of ${operators.join(", ")}`);
    if (alpha[is] !== undefined) {
      throw new Error(`${spelling} and ${alpha[is]} are both ${is}: list one of them under "also"`);
    }
    for (const each of [spelling, ...also]) {
      if (spellings.has(each)) throw new Error(`two operators have the spelling ${each}`);
      spellings.set(each, is);
    }
    alpha[is] = spelling;
    v4[is] = other;
  }
  return {
    header: definition.header,
    prefix: findSharedPrefix([...spellings.keys()]),
    operators: spellings,
    alpha: requireAllOperators(alpha),
    v4: requireAllOperators(v4),
  };
}

function requireAllOperators(spellings: Partial<Record<Operator, string>>): Record<Operator, string> {
  const missing = operators.filter((operator) => spellings[operator] === undefined);
  if (missing.length > 0) throw new Error(`no spelling is given for ${missing.join(", ")}`);
  return spellings as Record<Operator, string>;
}

function findSharedPrefix(spellings: readonly string[]): string {
  const [first = "", ...rest] = spellings;
  let length = first.length;
  while (!rest.every((spelling) => spelling.startsWith(first.slice(0, length)))) length -= 1;
  if (length === 0)
    throw new Error("operators must have a common prefix that distinguishes them from fields");
  return first.slice(0, length);
}
