import { createListParser } from "../dialect/envelope.ts";
import type { PipelineDependencies } from "../pipeline/pipeline.ts";
import type { Pack } from "../mapping/pack.ts";
import { createResponseDefaults, type DeprecationHeaders } from "./response-defaults.ts";

/** A page of v4 may have so many times the rows that can be asked for; what has more is no page, and costs too much. */
const SLACK = 10;

/** What the road takes out of a pack: the words of both sides, and what all answers have in common. */
export function createPipelineConfig(
  pack: Pack,
  farewell: DeprecationHeaders = {},
): Pick<PipelineDependencies, "pack" | "scopes" | "dialect" | "translation" | "style"> {
  const { alpha, v4, filter, errors, statuses } = pack.dialect;
  return {
    pack,
    scopes: pack.scopes,
    dialect: { scheme: v4.scheme, scopesHeader: v4.scopes_header, filterHeader: filter.header },
    translation: {
      errors,
      statuses,
      openList: createListParser(v4.envelope, SLACK * v4.page_size.largest),
      alpha: alpha.envelope,
    },
    style: createResponseDefaults(pack, farewell),
  };
}
