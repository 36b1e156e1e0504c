/** The steps of the translation of one request, for `explain --trace`, `check --trace` and the console. */
import type { ExplainedField } from "../../compare/index.ts";
import type { ShownValue, TracedNode } from "../../jsonata/index.ts";

/** One evaluation of an expression of the pack. Values are JSON on one line. Long ones are cut, and end with `…`. */
export interface TracedExpression extends ShownValue {
  /** File and line: `book.yaml:12`. */
  readonly place: string;
  /** The keys that lead to it: `fields.price.read`. */
  readonly path: string;
  /** The field that it translates. Null for none. */
  readonly field: string | null;
  readonly source: string;
  readonly error?: string;
  readonly nodes: readonly TracedNode[];
  /** Evaluations of sub-expressions that are left out. */
  readonly omitted?: number;
}

/** A field of the response or of the body, its source, and the rule: a table, a catalog or an expression. */
export interface TracedField extends ShownValue, Pick<ExplainedField, "field" | "class" | "rule"> {
  readonly v4: { readonly field: string | null; readonly value: string | null };
}

/** A condition of the client's filter, in the words of both sides. */
export interface TracedCondition {
  readonly field: string;
  readonly value: string;
  readonly v4: string;
  /** The values of the upstream that mean the same: by a table, a catalog or an expression. */
  readonly values: readonly string[];
  readonly rule: string;
}

export interface Trace {
  /** `GET /path`. */
  readonly request: string;
  readonly route: string | null;
  readonly status: number;
  /** The incomplete parts of the trace. */
  readonly notes: readonly string[];
  readonly filter: readonly TracedCondition[];
  readonly body: readonly TracedField[];
  readonly response: readonly TracedField[];
  readonly expressions: readonly TracedExpression[];
}

/** Evaluations of expressions, and of sub-expressions of all of them, in one trace. */
export const MAX_EXPRESSIONS = 300;
export const MAX_NODES = 5_000;
/** Fields of one side, and conditions, in one trace. */
export const MAX_FIELDS = 500;
