import { throwFilterError } from "./filter-error.ts";

/** The neutral name of an operator. The spellings of both dialects are data of the pack. */
export type Operator = "and" | "or" | "gt" | "gte" | "lt" | "lte" | "contains" | "neq" | "order_by" | "order";

/** The operators that a dialect has, with their spellings. Of several spellings the first is the documented one. */
export type OperatorSpellings = Readonly<Partial<Record<Operator, string | readonly string[]>>>;

/** How a dialect filters lists. */
export interface FilterDefinition {
  readonly header: string;
  readonly operators: OperatorSpellings;
}

/** The compiled spellings of filter operators. */
export interface Grammar {
  /** Name of the client's header with the filter. */
  readonly header: string;
  /** The common prefix of the client's operators. A key with this prefix is an operator, never a field. */
  readonly prefix: string;
  /** Operators by every spelling that clients use. */
  readonly operators: ReadonlyMap<string, Operator>;
  /** The client's documented spelling, for the messages of errors. */
  readonly client: Readonly<Partial<Record<Operator, string>>>;
  /** Returns the upstream's spelling. @throws {HttpError} 400 if the upstream has no such operator */
  readonly upstream: (operator: Operator) => string;
}

const spellingsOf = (spellings: string | readonly string[]): readonly string[] => [spellings].flat();

/** Returns the documented spelling of each operator. */
const documented = (spellings: OperatorSpellings): Partial<Record<Operator, string>> =>
  Object.fromEntries(Object.entries(spellings).map(([is, texts]) => [is, spellingsOf(texts)[0]]));

/**
 * Compiles the filter grammar of a pack.
 *
 * @throws {Error} If two operators have the same spelling, or if the client's spellings have no common prefix that
 *   distinguishes them from field names.
 */
export function createGrammar(client: FilterDefinition, upstream: OperatorSpellings): Grammar {
  const operators = new Map<string, Operator>();
  for (const [is, texts] of Object.entries(client.operators) as [Operator, string | string[]][]) {
    for (const spelling of spellingsOf(texts)) {
      if (operators.has(spelling)) throw new Error(`two operators have the spelling ${spelling}`);
      operators.set(spelling, is);
    }
  }
  const clientSpellings = documented(client.operators);
  const upstreamSpellings = documented(upstream);
  return {
    header: client.header,
    prefix: findSharedPrefix([...operators.keys()]),
    operators,
    client: clientSpellings,
    upstream: (operator) =>
      upstreamSpellings[operator] ??
      throwFilterError(clientSpellings[operator] ?? operator, "is not supported any more."),
  };
}

function findSharedPrefix(spellings: readonly string[]): string {
  const [first = "", ...rest] = spellings;
  let length = first.length;
  while (!rest.every((spelling) => spelling.startsWith(first.slice(0, length)))) length -= 1;
  if (length === 0)
    throw new Error("operators must have a common prefix that distinguishes them from fields");
  return first.slice(0, length);
}
