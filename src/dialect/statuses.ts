/** The statuses of a pack. */
export interface StatusesDefinition {
  /** Statuses that are the same in alpha and v4. */
  readonly same: readonly number[];
  readonly rate_limited: { readonly v4: number; readonly alpha: number; readonly phrase: string };
  readonly other_4xx: number;
  readonly other: number;
}

/** Whether a status is a 2xx. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/**
 * Translates a v4 status to alpha (translation 3.1). Alpha's only success status is 200. A redirect counts as a server error,
 * since the gateway does not follow it.
 */
export function alphaStatus(v4: number, statuses: StatusesDefinition): number {
  if (isSuccess(v4)) return 200;
  if (statuses.same.includes(v4)) return v4;
  if (v4 === statuses.rate_limited.v4) return statuses.rate_limited.alpha;
  return v4 >= 400 && v4 < 500 ? statuses.other_4xx : statuses.other;
}
