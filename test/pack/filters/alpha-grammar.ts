/** The operators as the documents of the two dialects spell them. */

import { createGrammar } from "../../../src/pack/filters/grammar.ts";
import type { FilterDefinition } from "../../../src/pack/filters/filter-definition.ts";

export const definition: FilterDefinition = {
  header: "X-Filter",
  operators: {
    and: "+and",
    or: "+or",
    gt: "+gt",
    gte: "+gte",
    lt: "+lt",
    lte: "+lte",
    contains: "+contains",
    neq: ["+neq", "+ne"],
    order_by: ["+order-by", "+order_by"],
    order: "+order",
  },
};

/** The operators of v4. */
export const upstreamOperators = { ...definition.operators, order_by: "+order_by" };

export const grammar = createGrammar(definition, { header: "X-Filter", operators: upstreamOperators });
