/** What `check` prints of the surface of a pack. */
import { toVisibleLine } from "../../../base/index.ts";
import type { ApiSurface, Pack } from "../../../pack/index.ts";

/** Open points that the text lists. */
const MOST_LISTED = 30;

/** How much of the API surface the pack maps; nothing for a pack that does not declare the surface. */
export function describeSurface(pack: Pack): string[] {
  const { surface } = pack;
  if (!surface) return [];
  const gaps = pack.gaps();
  const fields = [...surface.objects.values()].reduce((sum, object) => sum + object.size, 0);
  const open = (of: "routes" | "fields"): number =>
    surface.openPoints.reduce((sum, point) => sum + point[of], 0);
  const mappedRoutes = surface.routes.length - gaps.unmappedRoutes.length - open("routes");
  const mappedFields = fields - gaps.unmappedFields.length - open("fields");
  return [
    `surface: ${mappedRoutes} of ${surface.routes.length} routes mapped, ${mappedFields} of ${fields} fields mapped`,
    ...describeOpenPoints(surface.openPoints),
  ];
}

/** What is not known yet, most-used first. */
function describeOpenPoints(points: ApiSurface["openPoints"]): string[] {
  if (points.length === 0) return [];
  const more = points.length - MOST_LISTED;
  return [
    `open points ${points.length}:`,
    ...points.slice(0, MOST_LISTED).map(({ name, usage }) => toVisibleLine(`  ${name}: ${usage}`)),
    ...(more > 0 ? [`  and ${more} more (--format json has all)`] : []),
  ];
}
