/** Which of alpha's few statuses a v4 status becomes (translation 3.1). */

export interface StatusesDefinition {
  /** Statuses that mean the same on both sides. */
  readonly same: readonly number[];
  readonly rate_limited: { readonly v4: number; readonly alpha: number; readonly phrase: string };
  readonly other_4xx: number;
  readonly other: number;
}

export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** Alpha knows 200 alone for success; a redirect, which is never followed, is a fault of the server. */
export function alphaStatus(v4: number, statuses: StatusesDefinition): number {
  if (isSuccess(v4)) return 200;
  if (statuses.same.includes(v4)) return v4;
  if (v4 === statuses.rate_limited.v4) return statuses.rate_limited.alpha;
  return v4 >= 400 && v4 < 500 ? statuses.other_4xx : statuses.other;
}
