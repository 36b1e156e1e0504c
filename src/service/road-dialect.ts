import { makeOpenList } from "../dialect/envelope.ts";
import type { RoadParts } from "../gateway/road.ts";
import type { Pack } from "../mapping/pack.ts";
import { answerStyle, type Farewell } from "./answer-style.ts";

/** What the road takes out of a pack: the words of both sides, and what all answers have in common. */
export function roadDialect(
  pack: Pack,
  farewell: Farewell = {},
): Pick<RoadParts, "pack" | "scopes" | "dialect" | "rules" | "style"> {
  const { alpha, v4, filter, errors, statuses } = pack.dialect;
  return {
    pack,
    scopes: pack.scopes,
    dialect: { scheme: v4.scheme, scopesHeader: v4.scopes_header, filterHeader: filter.header },
    rules: { errors, statuses, openList: makeOpenList(v4.envelope), alpha: alpha.envelope },
    style: answerStyle(pack, farewell),
  };
}
