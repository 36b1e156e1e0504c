/** The steps of the translation of one request, for `explain --trace`, `check --trace` and the console. */
import type { ExplainedField } from "../../compare/index.ts";
import type { ShownValue, TracedNode } from "../../jsonata/index.ts";

/** One evaluation of an expression of the pack. Values are JSON on one line. Long values are cut, and end with `…`. */
export interface TracedExpression extends ShownValue {
  /** File and line of the expression: `book.yaml:12`. */
  readonly place: string;
  /** The keys that lead to the expression: `fields.price.read`. */
  readonly path: string;
  /** The field that the expression translates. Null if missing. */
  readonly field: string | null;
  readonly source: string;
  readonly error?: string;
  readonly nodes: readonly TracedNode[];
  /** Number of omitted evaluations of sub-expressions. */
  readonly omitted?: number;
}

/** A field of the response or of the body, its source, and the rule: a table, a catalog or an expression. */
export interface TracedField extends ShownValue, Pick<ExplainedField, "field" | "class" | "rule"> {
  readonly v4: { readonly field: string | null; readonly value: string | null };
}

/** A condition of the client's filter, in the terms of both sides. */
export interface TracedCondition {
  readonly field: string;
  readonly value: string;
  readonly v4: string;
  /** The equivalent values of the upstream: by a table, a catalog or an expression. */
  readonly values: readonly string[];
  readonly rule: string;
}

export interface Trace {
  /** The request: `GET /path`. */
  readonly request: string;
  readonly route: string | null;
  readonly status: number;
  /** The notes about missing parts of the trace. */
  readonly notes: readonly string[];
  readonly filter: readonly TracedCondition[];
  readonly body: readonly TracedField[];
  readonly response: readonly TracedField[];
  readonly expressions: readonly TracedExpression[];
}

/** Maximum number of evaluations of expressions, and of all their sub-expressions, in one trace. */
export const MAX_EXPRESSIONS = 300;
export const MAX_NODES = 5_000;
/** Maximum number of fields of one side, and of conditions, in one trace. */
export const MAX_FIELDS = 500;
