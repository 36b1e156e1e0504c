/**
 * How the operators of a filter are spelled on both sides. The spellings are data of the mapping pack;
 * inside the gateway an operator goes by the name that stands under `is`.
 */

const operators = ["and", "or", "gt", "gte", "lt", "lte", "contains", "neq", "order_by", "order"] as const;

/** What an operator does, whatever a dialect calls it. */
export type Operator = (typeof operators)[number];

/** One operator of the pack. */
export interface OperatorDefinition {
  readonly is: Operator;
  /** v4's spelling where it differs from alpha's. */
  readonly v4?: string | undefined;
  /** Spellings that clients use besides the documented one. */
  readonly also?: readonly string[] | undefined;
}

/** The pack's `filter` block: the header's name, and the operators by alpha's documented spelling. */
export interface FilterDefinition {
  readonly header: string;
  readonly operators: Readonly<Record<string, OperatorDefinition>>;
}

export interface Grammar {
  /** The header that carries a filter, on both sides. */
  readonly header: string;
  /** What all operators begin with; a key that begins so is an operator and never a field. */
  readonly prefix: string;
  /** From every spelling that clients use to the operator. */
  readonly operators: ReadonlyMap<string, Operator>;
  /** The documented alpha spelling, for reasons. */
  readonly alpha: Readonly<Record<Operator, string>>;
  /** The spelling that goes to v4. */
  readonly v4: Readonly<Record<Operator, string>>;
}

/**
 * Prepares the look-ups of a pack's filter grammar.
 *
 * @throws {Error} when an operator is unknown, missing or defined twice, when one spelling stands for two
 *   operators, or when the spellings share no first character that tells them from field names.
 */
export function createGrammar(definition: FilterDefinition): Grammar {
  const spellings = new Map<string, Operator>();
  const alpha: Partial<Record<Operator, string>> = {};
  const v4: Partial<Record<Operator, string>> = {};
  for (const [spelling, { is, v4: other = spelling, also = [] }] of Object.entries(definition.operators)) {
    if (!operators.includes(is)) throw new Error(`${spelling}: "${is}" is none of ${operators.join(", ")}`);
    if (alpha[is] !== undefined) {
      throw new Error(`${spelling} and ${alpha[is]} are both ${is}: list one of them under "also"`);
    }
    for (const each of [spelling, ...also]) {
      if (spellings.has(each)) throw new Error(`${each} stands for two operators`);
      spellings.set(each, is);
    }
    alpha[is] = spelling;
    v4[is] = other;
  }
  return {
    header: definition.header,
    prefix: sharedPrefix([...spellings.keys()]),
    operators: spellings,
    alpha: complete(alpha),
    v4: complete(v4),
  };
}

function complete(spellings: Partial<Record<Operator, string>>): Record<Operator, string> {
  const missing = operators.filter((operator) => spellings[operator] === undefined);
  if (missing.length > 0) throw new Error(`no spelling is given for ${missing.join(", ")}`);
  return spellings as Record<Operator, string>;
}

function sharedPrefix(spellings: readonly string[]): string {
  const [first = "", ...rest] = spellings;
  let length = first.length;
  while (!rest.every((spelling) => spelling.startsWith(first.slice(0, length)))) length -= 1;
  if (length === 0) throw new Error("operators must begin alike, so that a key is seen to be an operator");
  return first.slice(0, length);
}
