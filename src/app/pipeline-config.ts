import { createListParser } from "../dialect/envelope.ts";
import type { ResponseDefaults } from "../pipeline/lifecycle.ts";
import type { PipelineDependencies } from "../pipeline/pipeline.ts";
import type { Pack } from "../mapping/pack.ts";
import type { Settings } from "../config/schema.ts";

/** Settings of the headers that all responses have. */
export type ResponseSettings = Partial<
  Pick<Settings, "DEPRECATION_DATE" | "SUNSET_DATE" | "SUNSET_LINK" | "CORS_ORIGINS">
>;

/** A list of v4 may have this many times the rows of its largest page. A longer one is invalid, and costs too much. */
const MOST_PAGES_IN_ONE = 10;

/** The part of the pipeline's dependencies that a pack determines: names of both dialects, and common headers. */
export function createPipelineConfig(
  pack: Pack,
  settings: ResponseSettings = {},
): Pick<PipelineDependencies, "pack" | "scopes" | "dialect" | "translation" | "style"> {
  const { alpha, v4, filter, errors, statuses } = pack.dialect;
  return {
    pack,
    scopes: pack.scopes,
    dialect: { scheme: v4.scheme, scopesHeader: v4.scopes_header, filterHeader: filter.header },
    translation: {
      errors,
      statuses,
      openList: createListParser(v4.envelope, MOST_PAGES_IN_ONE * v4.page_size.largest),
      alpha: alpha.envelope,
    },
    style: createResponseDefaults(pack, settings),
  };
}

function createResponseDefaults({ dialect }: Pack, settings: ResponseSettings): ResponseDefaults {
  const vary = ["Authorization", dialect.filter.header, ...(settings.CORS_ORIGINS ? ["Origin"] : [])];
  const { alpha, phrase } = dialect.statuses.rate_limited;
  const { always_ok } = dialect.alpha;
  return {
    headers: { "cache-control": "no-store", vary: vary.join(", "), ...deprecationHeaders(settings) },
    alwaysOk: {
      requestHeader: always_ok.request.toLowerCase(),
      statusHeader: always_ok.answer.toLowerCase(),
    },
    rateLimitedStatus: { status: alpha, phrase },
  };
}

/** Announces the end of alpha: RFC 9745 (a date is `@` and seconds) and RFC 8594. */
const deprecationHeaders = ({
  DEPRECATION_DATE,
  SUNSET_DATE,
  SUNSET_LINK,
}: ResponseSettings): Record<string, string> => ({
  ...(DEPRECATION_DATE && { deprecation: `@${DEPRECATION_DATE.getTime() / 1000}` }),
  ...(SUNSET_DATE && { sunset: SUNSET_DATE.toUTCString() }),
  ...(SUNSET_LINK && { link: `<${SUNSET_LINK.href}>; rel="sunset"` }),
});
