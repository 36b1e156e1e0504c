/** Decides which evaluations may contain a secret. In doubt, all values of an evaluation are hidden. */
import { isObject, type Origin } from "../../base/index.ts";
import { type Evaluation, type InputNames, loadTracedForm } from "../../jsonata/index.ts";
import type { Pack } from "../../pack/index.ts";

const { findVariableNames, namesIn } = await loadTracedForm();

type IsSecret = (name: string) => boolean;

/** Whether a value contains a member with a secret name. @param reads the members that are read */
function carriesSecret(value: unknown, reads: InputNames, isSecret: IsSecret): boolean {
  if (Array.isArray(value)) return value.some((item) => carriesSecret(item, reads, isSecret));
  if (!isObject(value)) return false;
  return Object.entries(value).some(([name, member]) => {
    const inner = reads === "all" ? reads : reads.get(name);
    if (inner === undefined || member === null || member === undefined) return false;
    return isSecret(name) || carriesSecret(member, inner, isSecret);
  });
}

/**
 * Finds the expressions that process a secret by their location, since `$value` has no name: expressions of fields that
 * are secret on one side, and of the value kinds that such fields use.
 */
function findSecretOrigins(pack: Pack, isSecret: IsSecret): (origin: Origin | undefined) => boolean {
  const rules = [...pack.resources.values()].flatMap(({ members }) => [...members]);
  const secret = rules.filter(([name, { upstream = "" }]) => isSecret(name) || isSecret(upstream));
  const fields = new Set(secret.map(([name]) => name));
  const kinds = new Set(secret.map(([, { values }]) => values));
  return (origin) => {
    if (!origin) return false;
    const keys = origin.path.split(".");
    return (
      (keys[0] === "values" && kinds.has(keys[1])) || fields.has(origin.field ?? "") || keys.some(isSecret)
    );
  };
}

/** A function that tests whether an evaluation contains the name of a secret, or reads a value that contains a secret. */
export function findSecretEvaluations(pack: Pack, isSecret: IsSecret): (evaluation: Evaluation) => boolean {
  const isSecretOrigin = findSecretOrigins(pack, isSecret);
  return ({ expression, input, bindings }) =>
    isSecretOrigin(expression.origin) ||
    [...namesIn(expression)].some(isSecret) ||
    carriesSecret(input, expression.inputNames, isSecret) ||
    [...expression.variables].some((name) =>
      carriesSecret(bindings[name], findVariableNames(expression, name), isSecret),
    );
}
