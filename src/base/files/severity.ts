/** How much a loss weighs, the heaviest first. docs/guide/pack-objects.md says what each word means. */
export const SEVERITIES = ["meaning", "detail", "rounding"] as const;

export type Severity = (typeof SEVERITIES)[number];

/** The severity of a loss that states none: most losses are fields that one side does not have. */
export const DEFAULT_SEVERITY: Severity = "detail";
