/** Routes of an API that nobody has described: the path of a request, with `:id` for each segment that is a value. */

/** Segments of a version: `v1`, `v2.1`. */
const VERSION = /^v\d+(?:\.\d+)*$/i;
/** A word has letters, and few digits at most: `oauth2`, `order-items`, `2fa`. */
const WORD = /^(?=.*[a-z])[a-z\d_.~-]*$/i;
const MOST_DIGITS_OF_WORD = 2;
/** A longer text without a sign between its words is a token, a longer one with such signs the title of something. */
const LONGEST_WORD = 24;
const LONGEST_WORDS = 48;
const EXTENSION = /^([\w-]+)(\.[a-z]{2,5})$/i;
const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;
const HEX = /^(?=.*\d)[\da-f]{8,}$/i;

const VALUE = ":id";

function isLiteral(segment: string): boolean {
  if (segment === "" || VERSION.test(segment)) return true;
  if (!WORD.test(segment) || UUID.test(segment) || HEX.test(segment)) return false;
  if (segment.length > LONGEST_WORDS || segment.split(/[_.~-]/).some(({ length }) => length > LONGEST_WORD))
    return false;
  return segment.replaceAll(/\D/g, "").length <= MOST_DIGITS_OF_WORD;
}

function segmentTemplate(segment: string): string {
  if (isLiteral(segment)) return segment;
  const [, name = "", extension = ""] = EXTENSION.exec(segment) ?? [];
  return isLiteral(name) ? VALUE : VALUE + extension;
}

/** Returns a path with `:id` in place of numbers, UUIDs, hashes, and long or mixed tokens. @param path Without the query. */
export const pathTemplate = (path: string): string => path.split("/").map(segmentTemplate).join("/");

/** The route of all requests whose own route is one too many. */
export const OTHER_ROUTE = "other";

const MOST_ROUTES = 500;
const LONGEST_PATH = 1024;

/**
 * Names the routes of an undescribed API. Their number is limited: after that all new ones are {@link OTHER_ROUTE}. Only a
 * path that the service has served becomes a route: programs that look for weak spots ask for many that it does not have.
 */
export class RouteTemplates {
  readonly #routes = new Set<string>();
  readonly #most: number;

  /** @param most Number of routes. */
  constructor(most = MOST_ROUTES) {
    this.#most = most;
  }

  /**
   * Returns the route of a request: its method and the template of its path, `GET /orders/:id`. A HEAD is a GET.
   *
   * @param status Of the service's response; null without one.
   * @returns null for a path that the service has not served yet.
   */
  routeOf(method: string, path: string, status: number | null): string | null {
    const isServed = status !== null && status < 400;
    if (path.length > LONGEST_PATH) return isServed ? OTHER_ROUTE : null;
    const route = `${method === "HEAD" ? "GET" : method} ${pathTemplate(path)}`;
    if (this.#routes.has(route)) return route;
    if (!isServed) return null;
    if (this.#routes.size >= this.#most) return OTHER_ROUTE;
    this.#routes.add(route);
    return route;
  }
}
