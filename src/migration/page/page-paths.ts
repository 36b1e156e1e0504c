/** The paths of the pages for clients. A pack must not define routes with these paths. */
import { type Settings, SettingsError } from "../../base/index.ts";
import type { Pack } from "../../pack/index.ts";

/** Last segments of the paths: the page of changes for a client, and the description of the client's API. */
const SEGMENTS = { page: "migration", description: "openapi.json" } as const;

type PagePaths = Readonly<Record<keyof typeof SEGMENTS, string>>;

export const pagePathsOf = ({ dialect: { client } }: Pick<Pack, "dialect">): PagePaths => ({
  page: `${client.base_path}/${SEGMENTS.page}`,
  description: `${client.base_path}/${SEGMENTS.description}`,
});

/** The route names of these pages in records and metrics. */
export const PAGE_ROUTES: Readonly<Record<keyof typeof SEGMENTS, string>> = {
  page: `GET /${SEGMENTS.page}`,
  description: `GET /${SEGMENTS.description}`,
};

/** Returns the call of the pack with the path of a page; undefined if not found. */
function findCollision(pack: Pack, segment: string): string | undefined {
  const route = pack.match("GET", [segment])?.routes[0];
  if (route) return route.name;
  const { oauth, client } = pack.dialect;
  const paths = oauth ? [oauth.authorize, oauth.token, oauth.revoke, oauth.logout] : [];
  return paths.map((each) => each.client).find((path) => path === `${client.base_path}/${segment}`);
}

/**
 * Checks that no call of a pack uses the path of a page.
 *
 * @throws {SettingsError}
 */
export function checkPagePaths({ MIGRATION_PAGE }: Pick<Settings, "MIGRATION_PAGE">, pack: Pack): void {
  if (!MIGRATION_PAGE) return;
  const problems = Object.values(SEGMENTS).flatMap((segment) => {
    const found = findCollision(pack, segment);
    return found === undefined
      ? []
      : [`MIGRATION_PAGE: the pack has ${found}, where the page ${segment} would be; set it to off`];
  });
  if (problems.length > 0) throw new SettingsError(problems);
}
