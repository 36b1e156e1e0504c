import type { FieldClass } from "../../mapping/summary.ts";

/** What stands on v4's side of a field. */
export interface V4Side {
  /** The recorded call, or the catalog, that it comes from, `GET /path`; null where there is none. */
  readonly call: string | null;
  /** Its place in that call's answer or body; null where no single member is it. */
  readonly field: string | null;
  /** Missing where it was not recorded. */
  readonly value?: unknown;
}

/** One field of an answer or a body: what alpha sees, what v4 has, and the rule between them. */
export interface ExplainedField {
  /** In alpha's names, with its row: `list[0].name`. */
  readonly field: string;
  readonly class: FieldClass;
  readonly value?: unknown;
  readonly v4: V4Side;
  /** The rule in words. */
  readonly rule: string;
  readonly loss: string | null;
}

/** One entry of an error answer; `v4` is null where the gateway refused by itself. */
export interface ExplainedError {
  readonly reason: string;
  readonly field: string | null;
  readonly v4: V4Side | null;
}

/** What went out of the client's body. */
export interface ExplainedBody {
  readonly fields: readonly ExplainedField[];
  /** Alpha members that no rule takes. */
  readonly dropped: readonly string[];
  /** v4 members that the gateway put in. */
  readonly added: readonly string[];
}

/** Where an answer and its fields came from, by today's pack. */
export interface Explanation {
  readonly route: string | null;
  /** Why there is less to tell than one would like; null where nothing is missing. */
  readonly note: string | null;
  readonly answer: readonly ExplainedField[];
  readonly errors: readonly ExplainedError[];
  readonly body: ExplainedBody | null;
}
