/** Which expressions work on a secret by the place where they are written: their input has no name. */
import type { Origin } from "../../base/index.ts";
import type { FieldRule, Pack } from "../../pack/index.ts";

/** Whether a field is a secret on either side. */
function isSecretRule(name: string, { upstream = "" }: FieldRule, isSecret: (name: string) => boolean) {
  return isSecret(name) || isSecret(upstream);
}

/** Finds the expressions of fields that are secret on one side, and of the value kinds that such fields use. */
export function findSecretOrigins(
  pack: Pack,
  isSecret: (name: string) => boolean,
): (origin: Origin | undefined) => boolean {
  const fields = new Set<string>();
  const kinds = new Set<string>();
  for (const { members } of pack.resources.values())
    for (const [name, rule] of members) {
      if (!isSecretRule(name, rule, isSecret)) continue;
      fields.add(name);
      if (rule.values !== undefined) kinds.add(rule.values);
    }
  return (origin) => {
    if (!origin) return false;
    const [first, second = ""] = origin.path.split(".");
    if (first === "values" && kinds.has(second)) return true;
    return fields.has(origin.field ?? "") || origin.path.split(".").some(isSecret);
  };
}
