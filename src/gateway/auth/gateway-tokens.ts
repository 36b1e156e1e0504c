import { createHmac, createSecretKey, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * The gateway's own tokens, which clients get in place of v4's. They can be recognized without the store. So a token
 * whose record was lost is rejected, and never mistaken for one that v4 issued.
 */
export interface GatewayTokens {
  /** Creates a token. @param prefix Its first characters in place of random ones, if it is hexadecimal. */
  create(prefix?: string): string;
  /** Whether the gateway created a token. Takes constant time for any text in the form of a token. */
  isGatewayToken(token: string): boolean;
}

const HALF_BYTES = 16;
const FORM = /^[0-9a-f]{64}$/;

/** The prefix is a quarter of a token at most: the second quarter stays random. */
const PREFIX = /^[0-9a-f]{16}/;

/** Creates the tokens of a secret: 16 random bytes, and 16 bytes of an HMAC over them with a key derived for this use. */
export function createGatewayTokens(secret: string): GatewayTokens {
  const key = createSecretKey(Buffer.from(hkdfSync("sha256", secret, "", "alpha-gateway: own tokens", 32)));
  const codeOf = (random: Buffer): Buffer =>
    createHmac("sha256", key).update(random).digest().subarray(0, HALF_BYTES);
  return {
    create(prefix = "") {
      const random = randomBytes(HALF_BYTES);
      random.write(PREFIX.exec(prefix)?.[0] ?? "", "hex");
      return Buffer.concat([random, codeOf(random)]).toString("hex");
    },
    isGatewayToken(token) {
      if (!FORM.test(token)) return false;
      const bytes = Buffer.from(token, "hex");
      return timingSafeEqual(bytes.subarray(HALF_BYTES), codeOf(bytes.subarray(0, HALF_BYTES)));
    },
  };
}
