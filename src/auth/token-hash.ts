import { hash } from "node:crypto";

/** A token as it is known by everywhere inside: its SHA-256 in hex. No token is ever stored or logged in the clear. */
export const tokenHash = (token: string): string => hash("sha256", token, "hex");

/** Enough of a hash to tell clients apart in the audit, too little to look for a token with. */
export const fingerprint = (hash: string): string => hash.slice(0, 16);
