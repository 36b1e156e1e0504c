import { FIELD, spellingsOf, type FilterDefinition, type Operator } from "./filter-definition.ts";
import { throwFilterError } from "./filter-error.ts";
import { createFilterWriter } from "./filter-writer.ts";

/** The compiled spellings of filter operators. */
export type Grammar = ReturnType<typeof createGrammar>;

/**
 * Compiles the filter grammar of a pack.
 *
 * @throws {Error} If two operators have the same spelling, or if the client's spellings in a header have no common prefix
 *   that distinguishes them from field names.
 */
export function createGrammar(client: FilterDefinition, upstream: FilterDefinition | undefined) {
  const operators = new Map<string, Operator>();
  const inHeader = client.header === undefined ? {} : client.operators;
  for (const [is, texts] of Object.entries(inHeader) as [Operator, string | string[]][]) {
    for (const spelling of spellingsOf(texts)) {
      if (operators.has(spelling)) throw new Error(`two operators have the spelling ${spelling}`);
      operators.set(spelling, is);
    }
  }
  const documented = new Map(Object.entries(client.operators));
  const spelling = (operator: string): string =>
    spellingsOf(documented.get(operator))[0]?.replace(FIELD, "") ?? operator;
  const writer = createFilterWriter(upstream);
  return {
    /** Name of the client's header that contains the filter; undefined if the filter is in the query. */
    header: client.header,
    /** The common prefix of the client's operators. A key with this prefix is an operator, never a field. */
    prefix: client.header === undefined ? "" : findSharedPrefix([...operators.keys()]),
    /** Operators by every spelling that clients use in a header. */
    operators: operators as ReadonlyMap<string, Operator>,
    /** Returns the client's documented spelling, for messages of errors. */
    spelling,
    /** Returns the upstream's spelling. @throws {HttpError} 400 if the upstream does not support the operator */
    upstream: (operator: Operator): string =>
      writer.key(operator) ?? throwFilterError(spelling(operator), "is not supported any more."),
    writer,
  };
}

function findSharedPrefix(spellings: readonly string[]): string {
  const [first, ...rest] = spellings;
  if (first === undefined) return "";
  let length = first.length;
  while (!rest.every((spelling) => spelling.startsWith(first.slice(0, length)))) length -= 1;
  if (length === 0)
    throw new Error("operators must have a common prefix that distinguishes them from fields");
  return first.slice(0, length);
}
