/** A pack with traced expressions, and the recorder of their evaluations. */
import { type AuditRecord, Redaction, secretNames, SecretValues } from "../../audit/index.ts";
import { type Evaluation, loadTracedForm, type ShownValue } from "../../jsonata/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { ExplainedField } from "../../compare/index.ts";
import { explainRecord } from "../explain/explain-record.ts";
import { explainFilter } from "./explain-filter.ts";
import { findSecretEvaluations } from "./secrets.ts";
import {
  MAX_EXPRESSIONS,
  MAX_FIELDS,
  MAX_NODES,
  type Trace,
  type TracedExpression,
  type TracedField,
} from "./trace.ts";
import { valueText } from "./value-text.ts";

const { runTraced } = await loadTracedForm();

/** Maximum number of bytes of a value that are redacted. */
const VALUE_LIMIT = 4_000;

const HIDDEN: ShownValue = { value: null, isSecret: true };

/** The evaluations of the expressions of one request. */
interface Evaluated {
  readonly expressions: readonly TracedExpression[];
  /** Number of omitted evaluations. */
  readonly omitted: number;
  /** Whether the maximum number of evaluations of sub-expressions is reached, so that further ones are omitted. */
  readonly isCut: boolean;
}

/** Traces requests of one pack, one at a time. */
export class Tracer {
  /** The traced pack. Only for dry runs. */
  readonly pack: Pack;
  readonly #isSecret: (name: string) => boolean;
  readonly #redaction: Redaction;
  readonly #isSecretEvaluation: (evaluation: Evaluation) => boolean;
  #secrets = new SecretValues();
  #evaluations: Promise<TracedExpression>[] | undefined;
  #omitted = 0;
  #budget = { left: MAX_NODES };

  /** @param load loads the pack */
  constructor(load: () => Pack) {
    this.pack = runTraced((evaluation) => this.#add(evaluation), load);
    this.#isSecret = secretNames(this.pack.secretNames).has;
    this.#redaction = new Redaction({ names: this.pack.secretNames, bodyLimit: VALUE_LIMIT });
    this.#isSecretEvaluation = findSecretEvaluations(this.pack, this.#isSecret);
  }

  #add(evaluation: Evaluation): void {
    if (!this.#evaluations) return;
    if (this.#evaluations.length < MAX_EXPRESSIONS) this.#evaluations.push(this.#describe(evaluation));
    else this.#omitted += 1;
  }

  async #describe(evaluation: Evaluation): Promise<TracedExpression> {
    const { expression, input, bindings } = evaluation;
    const { origin, source } = expression;
    const [redaction, secrets] = [this.#redaction, this.#secrets];
    for (const part of [input, ...Object.values(bindings)])
      if (typeof part !== "function") redaction.search.addFromValue(part, secrets);
    const isHidden = this.#isSecretEvaluation(evaluation);
    const show = (value: unknown): ShownValue =>
      isHidden ? HIDDEN : { value: valueText(value, redaction, secrets) };
    const { nodes, omitted, value, error } = await evaluation.record(show, this.#budget);
    // The messages of JSONata contain values.
    const message = error instanceof Error && !isHidden ? redaction.text(error.message, secrets) : "failed";
    return {
      place: origin?.place ?? "",
      path: origin?.path ?? "",
      field: origin?.field ?? null,
      source: source.trim(),
      ...show(value),
      ...(error !== undefined && { error: message }),
      nodes,
      ...(omitted > 0 && { omitted }),
    };
  }

  /** Runs one request, and records the evaluations of its expressions. */
  async record<T>(run: () => Promise<T>): Promise<{ readonly result: T; readonly evaluated: Evaluated }> {
    const evaluations: Promise<TracedExpression>[] = [];
    this.#evaluations = evaluations;
    this.#secrets = new SecretValues();
    this.#omitted = 0;
    this.#budget = { left: MAX_NODES };
    try {
      const result = await run();
      const expressions = await Promise.all(evaluations);
      const isCut = this.#budget.left === 0;
      return { result, evaluated: { expressions, omitted: this.#omitted, isCut } };
    } finally {
      this.#evaluations = undefined;
    }
  }

  /** The displayed parts of a request. @param record the request's record, which contains the messages without their secrets */
  async describe(
    record: AuditRecord,
    { expressions, omitted, isCut }: Evaluated,
    notes: readonly string[],
  ): Promise<Trace> {
    const { alpha } = record;
    const explained = await explainRecord(record, this.pack);
    const route = alpha.route === null ? undefined : this.pack.route(alpha.route);
    const secretFields = new Set(
      expressions.flatMap(({ field, isSecret }) => (isSecret && field ? [field] : [])),
    );
    const fieldsOf = (fields: readonly ExplainedField[]): TracedField[] =>
      fields.slice(0, MAX_FIELDS).map((field) => this.#describeField(field, secretFields));
    const body = explained.body?.fields ?? [];
    const moreFields = Math.max(0, explained.answer.length - MAX_FIELDS, body.length - MAX_FIELDS);
    return {
      request: `${alpha.method} ${alpha.path}${alpha.query === "" ? "" : `?${alpha.query}`}`,
      route: alpha.route,
      status: alpha.status,
      notes: [
        ...notes,
        ...(explained.note === null ? [] : [explained.note]),
        ...(omitted > 0 ? [`${omitted} more evaluations of expressions are left out.`] : []),
        ...(isCut ? [`Sub-expressions after the first ${MAX_NODES} are left out.`] : []),
        ...(moreFields > 0 ? [`${moreFields} more fields are left out.`] : []),
      ],
      filter: route ? explainFilter(record, route, (value) => this.#text(value)) : [],
      body: fieldsOf(body),
      response: fieldsOf(explained.answer),
      expressions,
    };
  }

  #text(value: unknown): string | null {
    return valueText(value, this.#redaction);
  }

  #describeField(
    { field, class: kind, rule, value, v4 }: ExplainedField,
    secretFields: ReadonlySet<string>,
  ): TracedField {
    const isHidden = field.split(/[.[]/).some((name) => secretFields.has(name) || this.#isSecret(name));
    const v4Value = isHidden ? null : this.#text(v4.value);
    const shown = isHidden ? HIDDEN : { value: this.#text(value) };
    return { field, class: kind, rule, ...shown, v4: { field: v4.field, value: v4Value } };
  }
}
