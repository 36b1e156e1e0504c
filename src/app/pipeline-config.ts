import type { ResponseDefaults } from "../pipeline/lifecycle.ts";
import type { PipelineDependencies } from "../pipeline/pipeline.ts";
import type { Pack } from "../mapping/pack.ts";
import type { Settings } from "../config/schema.ts";

/** Settings of the headers that all responses have. */
export type ResponseSettings = Partial<
  Pick<Settings, "DEPRECATION_DATE" | "SUNSET_DATE" | "SUNSET_LINK" | "CORS_ORIGINS" | "SERVER_TIMING">
>;

/** The part of the pipeline's dependencies that a pack determines: names of both dialects, and common headers. */
export function createPipelineConfig(
  pack: Pack,
  settings: ResponseSettings = {},
): Pick<PipelineDependencies, "pack" | "scopes" | "dialect" | "translation" | "style"> {
  const { upstream, scopes } = pack.dialect;
  return {
    pack,
    scopes: pack.scopes,
    dialect: {
      scheme: upstream.credentials?.scheme,
      scopesHeader: scopes?.header,
      filterHeader: upstream.filters?.header,
    },
    translation: {
      errors: pack.errors,
      statuses: pack.statuses,
      parseList: pack.parseList,
      listWriter: pack.listWriter,
    },
    style: createResponseDefaults(pack, settings),
  };
}

function createResponseDefaults(
  { dialect: { client }, statuses }: Pack,
  settings: ResponseSettings,
): ResponseDefaults {
  const vary = [
    ...(client.credentials ? ["Authorization"] : []),
    ...(client.filters ? [client.filters.header] : []),
    ...(settings.CORS_ORIGINS ? ["Origin"] : []),
  ];
  const { always_ok: alwaysOk } = client;
  return {
    headers: {
      "cache-control": "no-store",
      ...(vary.length > 0 && { vary: vary.join(", ") }),
      ...deprecationHeaders(settings),
    },
    alwaysOk: alwaysOk && {
      requestHeader: alwaysOk.request_header.toLowerCase(),
      statusHeader: alwaysOk.response_header.toLowerCase(),
    },
    upstreamHeader: client.upstream_header?.toLowerCase(),
    statuses,
    serverTiming: settings.SERVER_TIMING ?? false,
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
