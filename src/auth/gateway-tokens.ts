import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * Tokens of the gateway's own, which it hands out in place of v4's. That one is such a token shows without the
 * store, so that one whose record is lost is refused, and never taken for a token that v4 knows.
 */
export interface GatewayTokens {
  /** @param shown a beginning that the token should have, in place of random characters, where it is hexadecimal */
  make(shown?: string): string;
  /** Takes as long for whatever has the form of one. */
  isOwn(token: string): boolean;
}

const HALF_BYTES = 16;
const FORM = /^[0-9a-f]{64}$/;

/** A quarter of a token: the other quarter of its first half stays random. */
const SHOWN = /^[0-9a-f]{16}/;

/** 16 random bytes and 16 bytes of a code over them, under a key that is derived from the secret for this alone. */
export function createGatewayTokens(secret: string): GatewayTokens {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "alpha-gateway: own tokens", 32));
  const codeOf = (random: Buffer): Buffer =>
    createHmac("sha256", key).update(random).digest().subarray(0, HALF_BYTES);
  return {
    make(shown = "") {
      const random = randomBytes(HALF_BYTES);
      random.write(SHOWN.exec(shown)?.[0] ?? "", "hex");
      return Buffer.concat([random, codeOf(random)]).toString("hex");
    },
    isOwn(token) {
      if (!FORM.test(token)) return false;
      const bytes = Buffer.from(token, "hex");
      return timingSafeEqual(bytes.subarray(HALF_BYTES), codeOf(bytes.subarray(0, HALF_BYTES)));
    },
  };
}
