/** How the field of a v4 error finds back to alpha: through the rule that took it out. */

/** A rule's place in v4, and what an error there names in alpha. */
export interface ErrorField {
  readonly v4: string;
  readonly alpha: string;
  /** `whole`: alpha names the field itself, whatever the tail; a member's name: that member of it. */
  readonly error: string | undefined;
}

const begins = (name: string, with_: string): boolean =>
  name.startsWith(with_) &&
  (name.length === with_.length || name[with_.length] === "." || name[with_.length] === "[");

function alphaName(rule: ErrorField, tail: string): string {
  if (rule.error === "whole") return rule.alpha;
  return rule.error === undefined
    ? rule.alpha + tail.replaceAll(/\[[^\].]*\]?/g, "")
    : `${rule.alpha}.${rule.error}`;
}

/**
 * Makes the translation of error fields. The longest place in v4 wins; what stands below it keeps its tail
 * (`stackscript_data.x` → `stackscript_udf_responses.x`), without the places in arrays: alpha names members alone.
 *
 * @returns undefined for a name that no rule knows: alpha names only members of the submitted JSON.
 */
export function compileErrorFields(rules: readonly ErrorField[]): (field: string) => string | undefined {
  const longestFirst = [...rules].sort((a, b) => b.v4.length - a.v4.length);
  return (field) => {
    const rule = longestFirst.find(({ v4 }) => begins(field, v4));
    if (rule) return alphaName(rule, field.slice(rule.v4.length));
    return undefined;
  };
}
