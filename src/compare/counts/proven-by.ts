/** Whose cases comparisons prove, by what nobody can invent. */
import { hash } from "node:crypto";
import { addressNetworks } from "../../gateway/index.ts";

/** Characters of a hash. */
const LENGTH = 12;

/**
 * Who proves a case, as `Compared` has it: a client of the directory, else all clients of one network together. Anybody can
 * get as many tokens as they like.
 *
 * @param name in the directory, not by the user agent; undefined: it has none
 * @param address of a client whose token was accepted
 */
export const provenBy = (name: string | undefined, address: string): string =>
  hash(
    "sha256",
    JSON.stringify([name ?? null, name === undefined ? addressNetworks(address).at(-1) : null]),
  ).slice(0, LENGTH);
