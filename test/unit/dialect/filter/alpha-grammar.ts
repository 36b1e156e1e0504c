/** The operators as the documents of the two dialects spell them. */

import { createGrammar } from "../../../../src/dialect/filter/grammar.ts";
import type { FilterDefinition } from "../../../../src/dialect/filter/grammar.ts";

export const definition: FilterDefinition = {
  header: "X-Filter",
  operators: {
    "+and": { is: "and" },
    "+or": { is: "or" },
    "+gt": { is: "gt" },
    "+gte": { is: "gte" },
    "+lt": { is: "lt" },
    "+lte": { is: "lte" },
    "+contains": { is: "contains" },
    "+neq": { is: "neq", also: ["+ne"] },
    "+order-by": { is: "order_by", v4: "+order_by", also: ["+order_by"] },
    "+order": { is: "order" },
  },
};

export const grammar = createGrammar(definition);
