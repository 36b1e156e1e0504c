/** An evaluation as plain data: with texts for values, and without secrets. */
import { type Redaction, SecretValues } from "../../audit/index.ts";
import { type Evaluation, type Frame, isInterpretedFunction, type Lookup } from "../../jsonata/index.ts";
import { findSecretFrames } from "./secret-frames.ts";
import type { TracedExpression, TracedLookup, TracedNode } from "./trace.ts";
import { cut, valueText } from "./value-text.ts";

export interface DescribeOptions {
  readonly redaction: Redaction;
  readonly isSecret: (name: string) => boolean;
  /** Whether all values are secret: the expression belongs to a secret. */
  readonly isSecretField: boolean;
  /** Secret values that are known of the whole request. */
  readonly secrets: SecretValues;
}

/** Functions are left out of a trace: they have no value that could be printed. */
const isFunction = (value: unknown): boolean =>
  typeof value === "function" ||
  (typeof value === "object" && value !== null && isInterpretedFunction(value));

/** Describes one evaluation. @param maxNodes How many nodes it may have. */
export function describeEvaluation(
  evaluation: Evaluation,
  { redaction, isSecret, isSecretField, secrets }: DescribeOptions,
  maxNodes: number,
): TracedExpression {
  const { origin, source, input, bindings, roots, value, error } = evaluation;
  for (const part of [input, ...Object.values(bindings)])
    if (typeof part !== "function") redaction.addFromValue(part, secrets);
  const isAllSecret = isSecretField || evaluation.namesSecret;
  const secretFrames = findSecretFrames(evaluation, isSecret);
  let left = maxNodes;
  let omitted = evaluation.omitted;
  const textOf = (shown: unknown) => valueText(shown, redaction, secrets);

  const describeLookup = ({ name, args, result }: Lookup): TracedLookup => ({
    function: name,
    args: args.map((argument) => textOf(argument) ?? "nothing"),
    result: textOf(result),
  });

  function describeNode(frame: Frame): TracedNode {
    const { step, isOpen, lookups, children } = frame;
    const isSecretValue = isAllSecret || secretFrames.has(frame);
    const shown = children.filter((child) => !isFunction(child.value));
    const taken = shown.slice(0, Math.max(0, left));
    left -= taken.length;
    omitted += shown.length - taken.length;
    const missing = frame.omitted + shown.length - taken.length;
    return {
      text: cut(step.text.replaceAll(/\s+/g, " ")),
      offset: step.offset,
      value: isSecretValue || isOpen ? null : textOf(frame.value),
      ...(isSecretValue && { isSecret: true }),
      ...(step.branch && { branch: step.branch }),
      ...(isOpen && { hasFailed: true }),
      ...(lookups.length > 0 && !isSecretValue && { lookups: lookups.map(describeLookup) }),
      children: taken.map(describeNode),
      ...(missing > 0 && { omitted: missing }),
    };
  }

  const nodes = roots.filter((frame) => !isFunction(frame.value)).map(describeNode);
  const isSecretValue = isAllSecret || roots.some((frame) => secretFrames.has(frame));
  return {
    place: origin?.place ?? "",
    path: origin?.path ?? "",
    field: origin?.field ?? null,
    source: source.trim(),
    value: isSecretValue || error !== undefined ? null : textOf(value),
    ...(isSecretValue && { isSecret: true }),
    // The messages of JSONata have values in them.
    ...(error !== undefined && {
      error: isSecretValue
        ? "failed"
        : redaction.text(error instanceof Error ? error.message : "failed", secrets),
    }),
    nodes,
    ...(omitted > 0 && { omitted }),
  };
}
