/** Decides which requests belong to one client, because any client can get any number of tokens. */
import { hash } from "node:crypto";
import { addressNetwork } from "../../base/index.ts";

/** Number of characters of a hash. */
const LENGTH = 12;
/** Separates the token and the network of a client without a name. */
const SEPARATOR = ".";

const shortHash = (parts: readonly (string | null)[]): string =>
  hash("sha256", JSON.stringify(parts)).slice(0, LENGTH);

/**
 * The proven owner of a request: a client of the directory or an application, otherwise a token and its network. Any
 * client can get any number of tokens or addresses: see {@link createIsSameClient}.
 *
 * @param name the client's name in the directory, unless only its user agent matched, or the name of an application.
 *   Undefined if missing
 * @param token the fingerprint of an accepted token. If there is none, only the network identifies the client
 * @param address the client's address
 */
export function provenBy(
  name: string | undefined,
  token: string | null | undefined,
  address: string,
): string {
  if (name !== undefined) return shortHash([name, null]);
  const network = shortHash([null, addressNetwork(address)]);
  return token === null || token === undefined ? network : `${provenByToken(token)}${SEPARATOR}${network}`;
}

/** The proven owner of a request without its network. A request of the same token with a network has the same owner. */
export const provenByToken = (token: string): string => shortHash(["token", token]);

/** The parts of a client's identity: its name, or its token and its network. */
export const partsOf = (by: string): readonly string[] => by.split(SEPARATOR);

/**
 * Creates the test whether another value of {@link provenBy} shares the name, the token or the network. Both are then
 * counted as one client.
 */
export function createIsSameClient(by: string): (other: string) => boolean {
  const parts = partsOf(by);
  return (other) => partsOf(other).some((part) => parts.includes(part));
}

/** Finds a counted client that belongs to the same client as `by`. Returns `by` if there is none. */
export function countedAs(clients: readonly string[], by: string): string {
  return clients.includes(by) ? by : (clients.find(createIsSameClient(by)) ?? by);
}

/**
 * Counts clients. A client that shares its token or its network with a counted one is not counted again. So the number
 * of counted clients without a name never exceeds their number of tokens, or their number of networks.
 */
export class ProvenClients {
  readonly #counted = new Set<string>();
  readonly #byPart = new Map<string, string>();

  /** @param counted the clients that are already counted */
  constructor(counted: Iterable<string> = []) {
    for (const by of counted) this.add(by);
  }

  /** Number of counted clients. */
  get size(): number {
    return this.#counted.size;
  }

  /** Returns the counted client that belongs to the same client as `by`, if there is one. */
  find(by: string): string | undefined {
    const [known] = partsOf(by).flatMap((part) => this.#byPart.get(part) ?? []);
    return known;
  }

  add(by: string): void {
    this.#counted.add(by);
    for (const part of partsOf(by)) if (!this.#byPart.has(part)) this.#byPart.set(part, by);
  }
}
