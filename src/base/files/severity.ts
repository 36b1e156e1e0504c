/** The severities of losses, the most severe first. docs/guide/pack-objects.md explains the words. */
export const SEVERITIES = ["meaning", "detail", "rounding"] as const;

export type Severity = (typeof SEVERITIES)[number];

/** The default severity of a loss. Most losses are fields that one side does not have. */
export const DEFAULT_SEVERITY: Severity = "detail";
