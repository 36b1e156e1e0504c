/** Whose cases comparisons prove, by what nobody can invent. */
import { hash } from "node:crypto";
import { addressNetworks } from "../../gateway/index.ts";

/** Characters of a hash. */
const LENGTH = 12;
/** Between the token and the network of a client without a name. */
const SEPARATOR = ".";

const shortHash = (parts: readonly (string | null)[]): string =>
  hash("sha256", JSON.stringify(parts)).slice(0, LENGTH);

/**
 * Who proves a case, as `Compared` has it: a client of the directory, else a token and its network. Anybody can get as many
 * tokens as they like, or as many addresses: see {@link createIsSameClient}.
 *
 * @param name in the directory, not by the user agent; undefined: it has none
 * @param token the fingerprint of a token that was accepted; without one the network alone says who it is
 * @param address of the client
 */
export function provenBy(
  name: string | undefined,
  token: string | null | undefined,
  address: string,
): string {
  if (name !== undefined) return shortHash([name, null]);
  const network = shortHash([null, addressNetworks(address).at(-1) ?? null]);
  return token === null || token === undefined
    ? network
    : `${shortHash(["token", token])}${SEPARATOR}${network}`;
}

/** What a client is known by: its name, or its token and its network. */
export const partsOf = (by: string): readonly string[] => by.split(SEPARATOR);

/** Creates what says whether another value of {@link provenBy} has the name, the token or the network: then both count as one client. */
export function createIsSameClient(by: string): (other: string) => boolean {
  const parts = partsOf(by);
  const ends = parts.flatMap((part) => [`${part}${SEPARATOR}`, `${SEPARATOR}${part}`]);
  return (other) =>
    parts.includes(other) || ends.some((end) => other.startsWith(end) || other.endsWith(end)) || other === by;
}

/**
 * Tells clients apart. Of those without a name it counts at most as many as they have tokens, and at most as many as they
 * have networks: a token or a network of a client that is counted makes no other one.
 */
export class ProvenClients {
  readonly #counted = new Set<string>();
  readonly #byPart = new Map<string, string>();

  /** @param counted the clients that are counted already */
  constructor(counted: Iterable<string> = []) {
    for (const by of counted) this.add(by);
  }

  /** Clients that are counted. */
  get size(): number {
    return this.#counted.size;
  }

  /** The client that is counted for another one; undefined: there is none. */
  find(by: string): string | undefined {
    const [known] = partsOf(by).flatMap((part) => this.#byPart.get(part) ?? []);
    return known;
  }

  add(by: string): void {
    this.#counted.add(by);
    for (const part of partsOf(by)) if (!this.#byPart.has(part)) this.#byPart.set(part, by);
  }
}
