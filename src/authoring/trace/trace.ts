/** The steps of the translation of one request, for `explain --trace`, `check --trace` and the console. */
import type { ExplainedField } from "../../compare/index.ts";

/** A value as JSON on one line. Long ones are cut, and end with `…`. */
export type ValueText = string;

/** A lookup of a value in a table or a catalog, by a function such as `$values`. */
export interface TracedLookup {
  /** The function, without the `$`. */
  readonly function: string;
  /** Its arguments: for `$values` the table, and the value whose row is used. */
  readonly args: readonly ValueText[];
  /** Null: there is no row. */
  readonly result: ValueText | null;
}

/** A sub-expression, evaluated once. */
export interface TracedNode {
  readonly text: string;
  /** Offset of the text in the source of the expression, in characters. */
  readonly offset: number;
  /** Null: there is none, or it is a secret. */
  readonly value: ValueText | null;
  /** The value comes from a secret. */
  readonly isSecret?: true;
  /** It is the branch that a condition has taken. */
  readonly branch?: "then" | "else";
  /** An error was thrown in it. */
  readonly hasFailed?: true;
  readonly lookups?: readonly TracedLookup[];
  readonly children: readonly TracedNode[];
  /** How many evaluations directly below are left out. */
  readonly omitted?: number;
}

/** One evaluation of an expression of the pack. */
export interface TracedExpression {
  /** File and line: `book.yaml:12`. */
  readonly place: string;
  /** The keys that lead to it: `fields.price.read`. */
  readonly path: string;
  /** The field that it translates. Null for none. */
  readonly field: string | null;
  readonly source: string;
  readonly value: ValueText | null;
  readonly isSecret?: true;
  readonly error?: string;
  readonly nodes: readonly TracedNode[];
  readonly omitted?: number;
}

/** A field of the response or of the body, its source, and the rule: a table, a catalog or an expression. */
export interface TracedField extends Pick<ExplainedField, "field" | "class" | "rule"> {
  readonly value: ValueText | null;
  readonly isSecret?: true;
  readonly v4: { readonly field: string | null; readonly value: ValueText | null };
}

/** A condition of the client's filter, in the words of both sides. */
export interface TracedCondition {
  readonly field: string;
  readonly value: ValueText;
  readonly v4: string;
  /** The values of the upstream that mean the same: by a table, a catalog or an expression. */
  readonly values: readonly ValueText[];
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

/** Evaluations of expressions, and nodes of all of them, in one trace. */
export const MAX_EXPRESSIONS = 300;
export const MAX_NODES = 5_000;
/** Fields of one side, and conditions, in one trace. */
export const MAX_FIELDS = 500;
