/** Finds the evaluations whose values come from a secret. */
import { isExactNumber } from "../../base/index.ts";
import { type Evaluation, type Frame, walk } from "../../jsonata/index.ts";

/** Maximum number of searched values. A value that could not be searched counts as a secret. */
const MAX_SEARCHED = 20_000;

/** Nodes that make another value of all that is in a value. Others select by name, or keep the names. */
const CONSUMING: ReadonlySet<string> = new Set([
  "function",
  "apply",
  "partial",
  "binary",
  "wildcard",
  "descendant",
  "parent",
  "transform",
]);

/** Nodes whose value depends on their context, not only on their children. */
const READS_CONTEXT: ReadonlySet<string> = new Set(["wildcard", "descendant", "parent"]);

/** Whether an object in a value has a member with a secret name. */
function carriesSecret(value: unknown, isSecret: (name: string) => boolean): boolean {
  const open: unknown[] = [value];
  for (let searched = 0; open.length > 0; searched += 1) {
    if (searched > MAX_SEARCHED) return true;
    const part = open.pop();
    if (typeof part !== "object" || part === null || isExactNumber(part)) continue;
    for (const [name, inner] of Object.entries(part)) {
      if (inner === null || inner === undefined) continue;
      if (!Array.isArray(part) && isSecret(name)) return true;
      open.push(inner);
    }
  }
  return false;
}

/** Whether the expression gives values names of its own, so that a secret may come back under another name. */
function bindsNames({ roots }: Evaluation): boolean {
  let binds = false;
  for (const { step } of roots)
    walk(step.node, ({ type, ...parts }) => {
      if (type === "bind" || type === "lambda" || "focus" in parts || "index" in parts) binds = true;
    });
  return binds;
}

const argumentCount = ({ step: { node } }: Frame): number => {
  const given = node["arguments"];
  return Array.isArray(given) ? given.length : 0;
};

/**
 * Finds the evaluations of nodes whose values come from a secret. In doubt a value is secret.
 *
 * @param isSecret Whether the member of this name is a secret.
 */
export function findSecretFrames(evaluation: Evaluation, isSecret: (name: string) => boolean): Set<Frame> {
  const { input, bindings, roots } = evaluation;
  const secret = new Set<Frame>();
  const all: Frame[] = [];
  const hasSecrets = [input, ...Object.values(bindings)].some((value) => carriesSecret(value, isSecret));
  let isByValue = false;

  function consumes(frame: Frame): boolean {
    const { type } = frame.step.node;
    if (!hasSecrets || !CONSUMING.has(type)) return false;
    const isOfContext = READS_CONTEXT.has(type) || (type === "function" && argumentCount(frame) === 0);
    return isOfContext || frame.children.some(({ value }) => carriesSecret(value, isSecret));
  }

  function addAll(frame: Frame): void {
    secret.add(frame);
    frame.children.forEach(addAll);
  }

  function visit(frame: Frame): void {
    all.push(frame);
    frame.children.forEach(visit);
    // A part that is left out may have made a secret of the values that are shown.
    if (consumes(frame) || (hasSecrets && frame.omitted > 0)) {
      isByValue = true;
      addAll(frame);
    } else if (frame.children.some((child) => secret.has(child))) secret.add(frame);
  }

  roots.forEach(visit);
  return isByValue && bindsNames(evaluation) ? new Set(all) : secret;
}
