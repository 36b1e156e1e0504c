/** Routes of an undescribed API: the path of a request, with `:id` for each segment that is a value. */
import { Shares } from "../storage/shares.ts";

/** Matches segments of a version: `v1`, `v2.1`. */
const VERSION = /^v\d+(?:\.\d+)*$/i;
/** Matches a word: letters and at most a few digits, such as `oauth2`, `order-items`, `2fa`. */
const WORD = /^(?=.*[a-z])[a-z\d_.~-]*$/i;
const MOST_DIGITS_OF_WORD = 2;
/** A longer text without separators is a token. A longer text with separators is a title. */
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

/** The route of all requests after the limit of routes is reached. */
export const OTHER_ROUTE = "other";

const LONGEST_PATH = 1024;

/** The sender of a request. */
interface RouteSender {
  /** The key of its token, such as a hash. Undefined if there is no token. */
  readonly token: string | undefined;
  /** The network of its address. */
  readonly network: string;
}

/** Limits on the number of routes. */
interface RouteLimits {
  readonly most: number;
  /** Maximum number of routes that requests of one token, or of one network without a token, add. */
  readonly perSender: number;
  /** Maximum number of routes that requests of one network add, with any tokens. */
  readonly perNetwork: number;
}

const LIMITS: RouteLimits = { most: 1000, perSender: 250, perNetwork: 500 };

/** The exhausted share: that of a client, of a network, or of all senders. */
export type UsedUp = "client" | "network" | "all";

/**
 * Names the routes of an undescribed API. Their number is limited, and further routes are {@link OTHER_ROUTE}. No
 * client can use up all routes, because each token and each network has a limited share. Only a path that the service
 * has served becomes a route, because scanners request many paths that do not exist.
 */
export class RouteTemplates {
  /** Number of requests that are {@link OTHER_ROUTE} because a share was used up. */
  refused = 0;
  readonly #routes = new Set<string>();
  /** The number of routes that each sender and each network has added. */
  readonly #bySender = new Shares();
  readonly #byNetwork = new Shares();
  readonly #reported = new Set<UsedUp>();
  readonly #limits: RouteLimits;
  readonly #onUsedUp: (what: UsedUp, sender: RouteSender) => void;

  /** @param onUsedUp called once for each kind of share */
  constructor(limits = LIMITS, onUsedUp: (what: UsedUp, sender: RouteSender) => void = () => {}) {
    this.#limits = limits;
    this.#onUsedUp = onUsedUp;
  }

  /** The number of routes. */
  get size(): number {
    return this.#routes.size;
  }

  /**
   * Returns the route of a request: its method and the template of its path, `GET /orders/:id`. A HEAD request counts
   * as a GET request.
   *
   * @param path As it is recorded, without secrets.
   * @param status Status of the service's response; null if missing.
   * @returns null for a path that the service has not served yet.
   */
  routeOf(method: string, path: string, status: number | null, sender: RouteSender): string | null {
    const isServed = status !== null && status < 400;
    if (path.length > LONGEST_PATH || !path.startsWith("/")) return isServed ? OTHER_ROUTE : null;
    const route = `${method === "HEAD" ? "GET" : method} ${pathTemplate(path)}`;
    if (this.#routes.has(route)) return route;
    if (!isServed) return null;
    return this.#add(route, sender) ? route : OTHER_ROUTE;
  }

  #add(route: string, sender: RouteSender): boolean {
    const { token, network } = sender;
    const name = token === undefined ? `network ${network}` : `token ${token}`;
    const usedUp = this.#usedUp(name, network);
    if (usedUp !== undefined) {
      this.refused += 1;
      if (!this.#reported.has(usedUp)) this.#onUsedUp(usedUp, sender);
      this.#reported.add(usedUp);
      return false;
    }
    this.#routes.add(route);
    this.#bySender.take(name);
    this.#byNetwork.take(network);
    return true;
  }

  #usedUp(name: string, network: string): UsedUp | undefined {
    const { most, perSender, perNetwork } = this.#limits;
    if (this.#routes.size >= most) return "all";
    if (this.#byNetwork.of(network) >= perNetwork) return "network";
    return this.#bySender.of(name) >= perSender ? "client" : undefined;
  }
}
