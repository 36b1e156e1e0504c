import type { ResponseDefaults } from "../pipeline/lifecycle.ts";
import type { Pack } from "../mapping/pack.ts";
import type { Settings } from "../config/schema.ts";

/** What tells clients that alpha will go; anything may be left out. */
export type DeprecationHeaders = Partial<
  Pick<Settings, "DEPRECATION_DATE" | "SUNSET_DATE" | "SUNSET_LINK" | "CORS_ORIGINS">
>;

/** What tells clients that alpha will go: RFC 9745 (a date is written `@` and seconds) and RFC 8594. */
function farewell({
  DEPRECATION_DATE,
  SUNSET_DATE,
  SUNSET_LINK,
}: DeprecationHeaders): Record<string, string> {
  return {
    ...(DEPRECATION_DATE && { deprecation: `@${DEPRECATION_DATE.getTime() / 1000}` }),
    ...(SUNSET_DATE && { sunset: SUNSET_DATE.toUTCString() }),
    ...(SUNSET_LINK && { link: `<${SUNSET_LINK.href}>; rel="sunset"` }),
  };
}

/** What all answers of this gateway have in common. */
export function createResponseDefaults({ dialect }: Pack, settings: DeprecationHeaders): ResponseDefaults {
  const vary = ["Authorization", dialect.filter.header, ...(settings.CORS_ORIGINS ? ["Origin"] : [])];
  const { alpha, phrase } = dialect.statuses.rate_limited;
  return {
    headers: {
      "cache-control": "no-store",
      vary: vary.join(", "),
      "x-content-type-options": "nosniff",
      ...farewell(settings),
    },
    alwaysOk: dialect.alpha.always_ok,
    rateLimitedStatus: { status: alpha, phrase },
  };
}
