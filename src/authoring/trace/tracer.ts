/** A pack with traced expressions, and the recorder of their evaluations. */
import { type AuditRecord, Redaction, secretNames, SecretValues } from "../../audit/index.ts";
import { type Evaluation, loadTracedForm } from "../../jsonata/index.ts";
import type { Pack } from "../../pack/index.ts";
import type { ExplainedField } from "../../compare/index.ts";
import { explainRecord } from "../explain/explain-record.ts";
import { describeEvaluation } from "./describe-evaluation.ts";
import { explainFilter } from "./explain-filter.ts";
import { findSecretOrigins } from "./secret-origins.ts";
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

/** Bytes of a value that are redacted. */
const VALUE_LIMIT = 4_000;

const countNodes = (nodes: TracedExpression["nodes"]): number =>
  nodes.reduce((count, { children }) => count + 1 + countNodes(children), 0);

/** Traces requests of one pack, one after the other. */
export class Tracer {
  /** The same pack, traced. Only for dry runs. */
  readonly pack: Pack;
  readonly #isSecret: (name: string) => boolean;
  readonly #redaction: Redaction;
  readonly #isSecretOrigin: ReturnType<typeof findSecretOrigins>;
  #evaluations: Promise<Evaluation>[] | undefined;
  #omitted = 0;

  /** @param load Loads the pack. */
  constructor(load: () => Pack) {
    let isSecret = (_name: string): boolean => true;
    this.pack = runTraced(
      { isSecret: (name) => isSecret(name), onEvaluation: (evaluation) => this.#add(evaluation) },
      load,
    );
    const names = secretNames(this.pack.secretNames);
    isSecret = names.has;
    this.#isSecret = isSecret;
    this.#redaction = new Redaction({ names: this.pack.secretNames, bodyLimit: VALUE_LIMIT });
    this.#isSecretOrigin = findSecretOrigins(this.pack, isSecret);
  }

  #add(evaluation: Promise<Evaluation>): void {
    if (!this.#evaluations) return;
    if (this.#evaluations.length < MAX_EXPRESSIONS) this.#evaluations.push(evaluation);
    else this.#omitted += 1;
  }

  /** Runs one request, and records the evaluations of its expressions. */
  async record<T>(run: () => Promise<T>): Promise<{ readonly result: T; readonly evaluated: Evaluated }> {
    const evaluations: Promise<Evaluation>[] = [];
    this.#evaluations = evaluations;
    this.#omitted = 0;
    try {
      const result = await run();
      return { result, evaluated: { evaluations: await Promise.all(evaluations), omitted: this.#omitted } };
    } finally {
      this.#evaluations = undefined;
    }
  }

  /** The shown parts of a request. @param record Its record: the messages, without their secrets. */
  async describe(
    record: AuditRecord,
    { evaluations, omitted }: Evaluated,
    notes: readonly string[],
  ): Promise<Trace> {
    const { alpha } = record;
    const explained = await explainRecord(record, this.pack);
    const route = alpha.route === null ? undefined : this.pack.route(alpha.route);
    const { expressions, left } = this.#describeAll(evaluations);
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
        ...(left <= 0 ? [`Sub-expressions after the first ${MAX_NODES} are left out.`] : []),
        ...(moreFields > 0 ? [`${moreFields} more fields are left out.`] : []),
      ],
      filter: route ? explainFilter(record, route, (value) => this.#text(value)) : [],
      body: fieldsOf(body),
      response: fieldsOf(explained.answer),
      expressions,
    };
  }

  #describeAll(evaluations: readonly Evaluation[]) {
    const secrets = new SecretValues();
    let left = MAX_NODES;
    const expressions = evaluations.map((evaluation) => {
      const isSecretField = this.#isSecretOrigin(evaluation.origin);
      const options = {
        redaction: this.#redaction,
        isSecret: this.#isSecret,
        secrets,
        isSecretField,
      };
      const described = describeEvaluation(evaluation, options, left);
      left -= countNodes(described.nodes);
      return described;
    });
    return { expressions, left };
  }

  #text(value: unknown): string | null {
    return valueText(value, this.#redaction);
  }

  #describeField(
    { field, class: kind, rule, value, v4 }: ExplainedField,
    secretFields: ReadonlySet<string>,
  ): TracedField {
    const isSecretField = field.split(/[.[]/).some((name) => secretFields.has(name) || this.#isSecret(name));
    const shown = (part: unknown) => (isSecretField ? null : this.#text(part));
    return {
      field,
      class: kind,
      rule,
      value: shown(value),
      v4: { field: v4.field, value: shown(v4.value) },
      ...(isSecretField && { isSecret: true as const }),
    };
  }
}

/** The evaluations of the expressions of one request. */
export interface Evaluated {
  readonly evaluations: readonly Evaluation[];
  /** Evaluations that are left out. */
  readonly omitted: number;
}
