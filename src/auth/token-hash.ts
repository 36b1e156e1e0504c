import { hash } from "node:crypto";

/** The SHA-256 of a token in hex, which stands for it everywhere: tokens are never stored or logged in clear text. */
export const tokenHash = (token: string): string => hash("sha256", token, "hex");

/** The part of a hash that distinguishes clients in the audit. It is too short to search for the token. */
export const fingerprint = (hash: string): string => hash.slice(0, 16);
